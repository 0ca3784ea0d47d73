"""Choose the series that are judged: the figures that users care for, and no other."""

from functools import cache, reduce
from math import sqrt
from operator import or_

from django.db.models import Q

from benchweb.catalog import Kind, Metric, catalog
from benchweb.catalog.document import OWN_PREFIX
from benchweb.regressions.deciding import LEAST_DIFFERENCE_OF_RATIOS

# Beside each kind's headline. CPU and counters go up and down with these, and explain them at best.
MAIN_FIGURES = frozenset(
    f"{direction}{metric}"
    for direction in ("", "reverse_", "loaded_")
    for metric in (
        *("throughput_bps", "packets_per_second", "transactions_per_second", "connections_per_second"),
        *("requests_per_second", "latency_mean_seconds", "latency_p50_seconds", "latency_p99_seconds"),
        *("loss_ratio", "jitter_seconds"),
    )
)


def watched_metric(kind_name: str, metric_key: str) -> Metric | None:
    """Return the metric where changes of such series are told, else None."""
    kind = catalog().kinds.get(kind_name)
    metric = kind.metrics.get(metric_key) if kind else None
    if kind is None or metric is None or metric.better == "neutral":
        return None
    return metric if metric_key in watched_metrics(kind) else None


def watched_series() -> Q:
    """Return which series are judged, as a filter of series: all of a kind that another system defined."""
    return _watched_tests() | Q(kind__startswith=OWN_PREFIX)


@cache
def _watched_tests() -> Q:
    kinds = catalog().tests.values()
    return reduce(or_, (Q(kind=kind.name, metric__in=sorted(_judged_metrics(kind))) for kind in kinds))


def _judged_metrics(kind: Kind) -> set[str]:
    return {key for key in kind.metrics if watched_metric(kind.name, key)}


def watched_metrics(kind: Kind) -> frozenset[str]:
    """Name a kind's metrics that are judged."""
    return frozenset(kind.metrics) if kind.is_own else MAIN_FIGURES | {kind.headline}


def least_difference(metric: Metric) -> float:
    """Return the difference, in the metric's unit, that is never worth telling."""
    return LEAST_DIFFERENCE_OF_RATIOS if metric.unit == "ratio" else 0.0


def is_on_log_scale(metric: Metric) -> bool:
    """Tell whether the metric varies with its level, as times do."""
    return metric.unit == "s"


def middle_level(metric: Metric, first: float, second: float) -> float:
    """Return the level half-way between two, on the scale that the metric is judged on: of times their ratios count."""
    if is_on_log_scale(metric) and first > 0 and second > 0:
        return sqrt(first * second)
    return (first + second) / 2


def is_worse(metric: Metric, before: float, after: float) -> bool:
    """Tell whether the second level is on the bad side of the first."""
    return after < before if metric.better == "higher" else after > before
