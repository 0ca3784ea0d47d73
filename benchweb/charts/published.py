"""A run as reports publish it: median and mean beside each other, each also in the reports' own notation."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchweb.catalog import Equivalent, Kind, Metric, catalog, equivalents
from benchweb.charts.lines import Sweep, sweeps
from benchweb.results.selectors import TrialRow
from benchweb.statistics import Summary, summary

# What reports print beside what our charts show: iperf3's jitter and retransmits, ping's and wrk's mean and deviation,
# and what sar counts at the receiver's interface.
_REPORTED = {
    "retransmits",
    "jitter_seconds",
    "loss_ratio",
    "latency_mean_seconds",
    "latency_stddev_seconds",
    "latency_mdev_seconds",
    "loaded_latency_mean_seconds",
    "loaded_latency_mdev_seconds",
    "loaded_loss_ratio",
    "received_bytes_per_second",
    "nic_rx_packets_per_second",
    "nic_rx_bytes_per_second",
}
# How busy the hosts were is no result of theirs.
_NOT_REPORTED = ("_cpu_ratio", "_core_ratio")


@dataclass(frozen=True)
class Written:
    """Median and mean in one notation of the reports."""

    equivalent: Equivalent
    median: float
    mean: float


@dataclass(frozen=True)
class PublishedRow:
    """One metric at one combination of the swept parameters: (label, value, unit) of each."""

    metric: Metric
    settings: list[tuple[str, Any, str]]
    found: Summary
    mean: float
    written: list[Written]


@dataclass(frozen=True)
class PublishedTable:
    """A kind's rows, metric by metric; what wasn't measured has no row."""

    kind: Kind
    rows: list[PublishedRow]

    @property
    def notes(self) -> list[Equivalent]:
        """Give each notation of the table once, to be explained below it."""
        return list(dict.fromkeys(each.equivalent for row in self.rows for each in row.written))


def published_tables(trials: Sequence[TrialRow]) -> list[PublishedTable]:
    """Give a table for each kind that measured something. No query."""
    tables = [_table(sweep) for sweep in sweeps(trials, catalog().kinds)]
    return [table for table in tables if table.rows]


def written(metric: Metric, *, median: float, mean: float) -> list[Written]:
    """Write a median and a mean in every notation that reports use for the metric."""
    return [Written(each, each.of(median), each.of(mean)) for each in equivalents(metric)]


def _table(sweep: Sweep) -> PublishedTable:
    combinations = sweep.lines("").items()
    rows = [
        row
        for metric in _metrics(sweep.kind)
        for values, repetitions in combinations
        if (row := _row(sweep, metric, values, repetitions)) is not None
    ]
    return PublishedTable(sweep.kind, rows)


def _metrics(kind: Kind) -> list[Metric]:
    """Choose what reports have, in the catalog's order: the kind's headline, what its charts show, and a few more."""
    chosen = {kind.headline, *_REPORTED, *(key for chart in kind.charts for key in chart.metrics)}
    return [each for key, each in kind.metrics.items() if key in chosen and not key.endswith(_NOT_REPORTED)]


def _row(sweep: Sweep, metric: Metric, values: tuple[Any, ...], trials: list[TrialRow]) -> PublishedRow | None:
    measured = [trial.metrics[metric.key] for trial in trials if trial.measured and metric.key in trial.metrics]
    found = summary(measured)
    if found is None:
        return None
    mean = fmean(measured)
    settings = [_setting(sweep, name, value) for name, value in zip(sweep.swept, values, strict=True)]
    return PublishedRow(metric, settings, found, mean, written(metric, median=found.median, mean=mean))


def _setting(sweep: Sweep, name: str, value: Any) -> tuple[str, Any, str]:
    parameter = sweep.kind.parameters[name]
    return parameter.label, value, parameter.unit
