"""A run's confidence as the page and the exports show it: each combination's interval, reached or not."""

from dataclasses import dataclass
from typing import Any

from benchweb.catalog import catalog
from benchweb.documents.nameless import KindParams
from benchweb.documents.references import kind_ref
from benchweb.results.confidence import JudgedCombination, RunConfidence


@dataclass(frozen=True)
class DisplayedCombination:
    """How sure a combination's mean is, to be formatted by the page; `mean` is None for too few results."""

    kind: str
    params: dict[str, Any]
    repetitions: int
    unit: str
    mean: float | None
    half_width: float | None
    width_percent: float | None
    is_reached: bool


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
        "kind": kind_ref(combination.kind),
        "params": KindParams(combination.kind, combination.params),
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
        kind=kind_ref(combination.kind),
        params=KindParams(combination.kind, combination.params),
        repetitions=combination.repetitions,
        unit=kind.metrics[combination.metric].unit if kind else "",
        mean=interval.mean if interval else None,
        half_width=interval.half_width if interval else None,
        width_percent=combination.width_percent,
        is_reached=combination.is_reached,
    )
