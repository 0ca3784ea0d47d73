"""A run's confidence as the page and the exports show it: each combination's interval, reached or not."""

from dataclasses import dataclass
from typing import Any

from benchweb.catalog import Metric, catalog
from benchweb.results.confidence import JudgedCombination, RunConfidence


@dataclass(frozen=True)
class DisplayedCombination:
    """A combination with its headline metric, to be formatted by the page; `mean` is None for too few results."""

    combination: JudgedCombination
    metric: Metric | None
    mean: float | None
    half_width: float | None
    width_percent: float | None


def displayed_combinations(confidence: RunConfidence) -> list[DisplayedCombination]:
    """Return the combinations in the plan's order, those that were missed first."""
    ordered = sorted(confidence.combinations, key=lambda combination: combination.is_reached)
    return [_displayed(combination) for combination in ordered]


def confidence_document(confidence: RunConfidence | None) -> dict[str, Any] | None:
    """Return the JSON of a run's confidence, the same for the API and the export; None when none was asked for."""
    if confidence is None:
        return None
    requested = confidence.requested
    return {
        "level_percent": requested.level_percent,
        "width_percent": requested.width_percent,
        "max_repetitions": requested.max_repetitions,
        "is_reached": confidence.is_reached,
        "combinations": [_combination(combination) for combination in confidence.combinations],
    }


def _combination(combination: JudgedCombination) -> dict[str, Any]:
    interval = combination.interval
    return {
        "kind": combination.kind,
        "params": combination.params,
        "metric": combination.metric,
        "repetitions": combination.repetitions,
        "failed": combination.failed,
        "mean": interval.mean if interval else None,
        "low": interval.mean - interval.half_width if interval else None,
        "high": interval.mean + interval.half_width if interval else None,
        "width_percent": combination.width_percent,
        "is_reached": combination.is_reached,
    }


def _displayed(combination: JudgedCombination) -> DisplayedCombination:
    kind = catalog().kinds.get(combination.kind)
    interval = combination.interval
    return DisplayedCombination(
        combination=combination,
        metric=kind.metrics[combination.metric] if kind else None,
        mean=interval.mean if interval else None,
        half_width=interval.half_width if interval else None,
        width_percent=combination.width_percent,
    )
