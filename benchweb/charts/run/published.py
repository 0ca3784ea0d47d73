"""A run as reports publish it: median and mean beside each other, each also in the reports' own notation."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchweb.catalog import Equivalent, Kind, Metric, catalog, equivalents
from benchweb.charts.lines import Sweep, has_both_ends, sweeps
from benchweb.charts.run.verdict import Setting, settings_of
from benchweb.results.selectors import TrialRow
from benchweb.statistics import Summary, summary

# What reports print beside what our charts show: iperf3's jitter and retransmits, ping's and wrk's mean and deviation,
# what sar counts at the receiver's interface, and netperf's socket sizes as granted.
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
    "source_send_buffer_bytes",
    "source_receive_buffer_bytes",
    "sink_send_buffer_bytes",
    "sink_receive_buffer_bytes",
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
    """One metric at one combination of the swept parameters."""

    metric: Metric
    settings: list[Setting]
    summary: Summary
    mean: float
    written: list[Written]


@dataclass(frozen=True)
class PublishedTable:
    """A kind's rows, metric by metric; what wasn't measured has no row."""

    kind: Kind
    rows: list[PublishedRow]

    @property
    def has_both_ends(self) -> bool:
        """Say whether there are rows of what was sent beside those of what was received."""
        return has_both_ends(row.metric for row in self.rows)

    @property
    def notes(self) -> list[Equivalent]:
        """Return each notation of the table once, to be explained below it."""
        return list(dict.fromkeys(written.equivalent for row in self.rows for written in row.written))


def published_tables(trials: Sequence[TrialRow]) -> list[PublishedTable]:
    """Return a table for each kind that measured something. No query."""
    tables = [_table(sweep) for sweep in sweeps(trials, catalog().kinds)]
    return [table for table in tables if table.rows]


def written(metric: Metric, *, median: float, mean: float) -> list[Written]:
    """Write a median and a mean in every notation that reports use for the metric."""
    return [Written(equivalent, equivalent.of(median), equivalent.of(mean)) for equivalent in equivalents(metric)]


def _table(sweep: Sweep) -> PublishedTable:
    combinations = sweep.lines("").values()
    rows = [
        row
        for metric in _metrics(sweep.kind)
        for repetitions in combinations
        if (row := _row(sweep, metric, repetitions)) is not None
    ]
    return PublishedTable(sweep.kind, rows)


def _metrics(kind: Kind) -> list[Metric]:
    """Choose what reports have, in the catalog's order: the kind's headline, what its charts show, and a few more."""
    chosen = {kind.headline, *_REPORTED, *(key for chart in kind.charts for key in chart.metrics)}
    return [metric for key, metric in kind.metrics.items() if key in chosen and not key.endswith(_NOT_REPORTED)]


def _row(sweep: Sweep, metric: Metric, trials: list[TrialRow]) -> PublishedRow | None:
    measured = [trial.metrics[metric.key] for trial in trials if trial.measured and metric.key in trial.metrics]
    summarized = summary(measured)
    if summarized is None:
        return None
    mean = fmean(measured)
    notations = written(metric, median=summarized.median, mean=mean)
    return PublishedRow(metric, settings_of(sweep, trials[0]), summarized, mean, notations)
