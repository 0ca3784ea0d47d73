"""Network modes × modes: three tables for each zone, with the modes in the author's order."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import environment_ref, joined_label, mode_ref
from benchweb.reports.reported import ReportedRun
from benchweb.reports.tables.notation import MISSING, filled, fixed


@dataclass(frozen=True)
class ModeFigure:
    """What a table shows: the first of these metrics that was measured, in the reports' unit."""

    title: str
    unit: str
    factor: float
    decimals: int
    metrics: Sequence[tuple[str, str]]
    is_lower_better: bool = False


MEASURES = (
    ModeFigure(gettext_noop("Throughput"), "Gbits/sec", 1e-9, 2, [("tcp_stream", "throughput_bps")]),
    ModeFigure(
        gettext_noop("Packet rate"),
        "K",
        1e-3,
        1,
        [("udp_stream", "packets_per_second"), ("tcp_rr", "transactions_per_second")],
    ),
    ModeFigure(
        gettext_noop("Latency"),
        "ms",
        1e3,
        3,
        [("tcp_rr", "latency_mean_seconds"), ("ping", "latency_mean_seconds"), ("udp_rr", "latency_mean_seconds")],
        is_lower_better=True,
    ),
)


def mode_tables(runs: Sequence[ReportedRun], modes: Sequence[str]) -> list[DocumentTable]:
    """Return a table for each zone and measure; rows are sources' modes, columns sinks'."""
    order = _ordered(runs, modes)
    zones = list(dict.fromkeys(run.run.pair.environment.name for run in runs))
    return filled([_table(runs, zone, measure, order) for zone in zones for measure in MEASURES])


def _ordered(runs: Sequence[ReportedRun], modes: Sequence[str]) -> list[str]:
    """Return the modes that any run has: those that the author named first."""
    present = dict.fromkeys(end.network_mode for run in runs for end in (run.run.pair.source, run.run.pair.sink))
    return [mode for mode in modes if mode in present] + [mode for mode in present if mode not in modes]


def _table(runs: Sequence[ReportedRun], zone: str, measure: ModeFigure, order: Sequence[str]) -> DocumentTable:
    of_zone = [run for run in runs if run.run.pair.environment.name == zone]
    metric = next((each for each in measure.metrics if any(_has(run, *each) for run in of_zone)), None)
    title = joined_label([f"{_(measure.title)} ({measure.unit})", environment_ref(zone)])
    if metric is None:
        return DocumentTable(title, [], [])
    cells: dict[tuple[str, str], list[str]] = {}
    for run in of_zone:
        pair = run.run.pair
        if value := _cell(run, metric, measure):
            cells.setdefault((pair.source.network_mode, pair.sink.network_mode), []).append(value)
    rows = [[_name(row), *(" / ".join(cells.get((row, column), [MISSING])) for column in order)] for row in order]
    columns = [_("from ↓ to →"), *map(_name, order)]
    kind, key = metric
    notes = [_("{metric} of {kind}.").format(metric=key, kind=kind)]
    return DocumentTable(title, columns, rows, list(range(1, len(columns))), notes)


def _name(mode: str) -> str:
    return mode_ref(mode or "host")


def _has(run: ReportedRun, kind: str, metric: str) -> bool:
    return any(test.values(metric) for test in run.combinations(kind))


def _cell(run: ReportedRun, metric: tuple[str, str], measure: ModeFigure) -> str:
    """Return the best of the run's settings, as a headline has it; empty where it has none."""
    kind, key = metric
    values = [value for test in run.combinations(kind) if (value := test.value(key)) is not None]
    if not values:
        return ""
    best = min(values) if measure.is_lower_better else max(values)
    return fixed(best, measure.decimals, factor=measure.factor)
