"""A run's confidence as the page and the exports show it: each combination's interval, reached or not."""

from dataclasses import dataclass
from typing import Any

from benchweb.catalog import Metric, catalog
from benchweb.results.confidence import Combination, RunConfidence


@dataclass(frozen=True)
class ShownCombination:
    """A combination with its headline metric, to be formatted by the page; `mean` is None for too few results."""

    found: Combination
    metric: Metric | None
    mean: float | None
    half_width: float | None
    width_percent: float | None


def displayed_combinations(confidence: RunConfidence) -> list[ShownCombination]:
    """Return the combinations in the plan's order, those that were missed first."""
    ordered = sorted(confidence.combinations, key=lambda each: each.is_reached)
    return [_shown(each) for each in ordered]


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


def _combination(found: Combination) -> dict[str, Any]:
    interval = found.interval
    return {
        "kind": found.kind,
        "params": found.params,
        "metric": found.metric,
        "repetitions": found.repetitions,
        "failed": found.failed,
        "mean": interval.mean if interval else None,
        "low": interval.mean - interval.half_width if interval else None,
        "high": interval.mean + interval.half_width if interval else None,
        "width_percent": found.width_percent,
        "is_reached": found.is_reached,
    }


def _shown(found: Combination) -> ShownCombination:
    kind = catalog().kinds.get(found.kind)
    interval = found.interval
    return ShownCombination(
        found=found,
        metric=kind.metrics[found.metric] if kind else None,
        mean=interval.mean if interval else None,
        half_width=interval.half_width if interval else None,
        width_percent=found.width_percent,
    )
