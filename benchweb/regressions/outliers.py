"""Figures of an environment that stand out in a night for the worse, and that no alert tells of: nothing confirmed."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Any

from benchweb.catalog import Kind, Metric, catalog
from benchweb.results.run_summaries import deviation_of
from benchweb.results.series_summaries import FigureNights, environment_figures
from benchweb.statistics import Deviation

# Of one night: of more than that a network is gone, and alerts tell of it.
MOST_OUTLIERS = 500


@dataclass(frozen=True)
class NightOutlier:
    """A figure of an environment in a night, the median over the pairs, beside the nights before it."""

    environment_id: int
    environment: str
    kind: Kind
    metric: Metric
    identity: dict[str, Any]
    median: float
    pairs: int
    change: Deviation


def judged(change: Deviation | None, metric: Metric) -> str:
    """Tell how a night's figure is beside those before it: worse, better, same, or learning."""
    if change is None or change.is_learning:
        return "learning"
    if not change.is_significant or metric.better not in ("higher", "lower"):
        return "same"
    rises = (change.score or 0.0) > 0
    return "better" if rises == (metric.better == "higher") else "worse"


def night_outliers(night: date, environments: Collection[int] | None = None) -> list[NightOutlier]:
    """Return the figures that stand out in a night, by environment, in these or in all but samples; one query.

    Nights of figures go from noon to noon in UTC, as the overview's do; thirty of them are known.
    """
    only = None if environments is None else list(environments)
    rows = [row for row in environment_figures(night, only) if only is not None or not row.is_sample]
    found = [outlier for row in rows if (outlier := _outlier(row, night))]
    return found[:MOST_OUTLIERS]


def _outlier(row: FigureNights, night: date) -> NightOutlier | None:
    kind = catalog().kinds.get(row.kind)
    if kind is None or row.metric not in kind.metrics or night not in row.nights:
        return None
    index, metric = row.nights.index(night), kind.metrics[row.metric]
    change = deviation_of(row.medians[: index + 1], metric)
    if change is None or judged(change, metric) != "worse":
        return None
    return NightOutlier(
        environment_id=row.environment_id,
        environment=row.environment,
        kind=kind,
        metric=metric,
        identity=row.identity,
        median=row.medians[index],
        pairs=row.pairs[index],
        change=change,
    )
