"""Network modes × modes: a table for each measure, setting and zone, with the modes in the author's order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import Label, environment_ref, free_text, joined_label, mode_ref
from benchweb.reports.models import Report
from benchweb.reports.reported import Combination, ReportedRun, combined
from benchweb.reports.tables.notation import with_spread
from benchweb.reports.tables.settings import setting_command, setting_key, setting_label, settings_measured


@dataclass(frozen=True)
class ModeFigure:
    """What a table shows: the first of these metrics that was measured, in the reports' unit."""

    title: str
    unit: str
    factor: float
    decimals: int
    metrics: Sequence[tuple[str, str]]


MEASURES = (
    ModeFigure(gettext_noop("Throughput"), "Gbits/sec", 1e-9, 2, [("tcp_stream", "throughput_bps")]),
    # Transactions are none: what their requests were packed into isn't known.
    ModeFigure(gettext_noop("Packet rate"), "K pkt/s", 1e-3, 1, [("udp_stream", "packets_per_second")]),
    ModeFigure(
        gettext_noop("Transaction rate"),
        "K/s",
        1e-3,
        1,
        [("tcp_rr", "transactions_per_second"), ("udp_rr", "transactions_per_second")],
    ),
    ModeFigure(
        gettext_noop("Latency"),
        "ms",
        1e3,
        3,
        [("tcp_rr", "latency_mean_seconds"), ("ping", "latency_mean_seconds"), ("udp_rr", "latency_mean_seconds")],
    ),
)
# The values of each run of a cell, by the modes of source and sink.
_Cells = Mapping[tuple[str, str], Sequence[Sequence[float]]]


def zones_of(runs: Sequence[ReportedRun]) -> list[str]:
    """Return the names of the runs' environments, each once."""
    return list(dict.fromkeys(run.run.pair.environment.name for run in runs))


def zone_tables(runs: Sequence[ReportedRun], report: Report, zone: str) -> list[DocumentTable]:
    """Return a zone's tables; rows are sources' modes, columns sinks', the same in each zone."""
    order = _ordered(runs, report.modes)
    return [table for measure in MEASURES for table in _tables(runs, report, zone, measure, order)]


def _ordered(runs: Sequence[ReportedRun], modes: Sequence[str]) -> list[str]:
    """Return the modes that any run has: those that the author named first."""
    present = dict.fromkeys(end.network_mode for run in runs for end in (run.run.pair.source, run.run.pair.sink))
    return [mode for mode in modes if mode in present] + [mode for mode in present if mode not in modes]


def _tables(
    runs: Sequence[ReportedRun], report: Report, zone: str, measure: ModeFigure, order: Sequence[str]
) -> list[DocumentTable]:
    """Return a table for each setting that was chosen of those that the zone has; without a choice one that asks."""
    of_zone = [run for run in runs if run.run.pair.environment.name == zone]
    measured = [
        (kind, metric, settings)
        for kind, metric in measure.metrics
        if (settings := settings_measured(of_zone, kind, metric))
    ]
    if not measured:
        return []
    title = joined_label([f"{_(measure.title)} ({measure.unit})", environment_ref(zone)])
    every = [(kind, metric, key, tests) for kind, metric, settings in measured for key, tests in settings.items()]
    chosen = [each for each in every if each[2] in report.chosen_settings]
    if not chosen and len(measured[0][2]) > 1:
        return [_question(title, {key: tests for _kind, _metric, key, tests in every})]
    return [
        _table(title, tests, _cells(of_zone, kind, metric, key), measure, (metric, order))
        for kind, metric, key, tests in chosen or every[:1]
    ]


def _question(title: Label, settings: Mapping[str, Sequence[Combination]]) -> DocumentTable:
    """Ask which of several settings a table is to show, by the names that choose them."""
    rows = [[free_text(key), setting_label(tests)] for key, tests in settings.items()]
    notes = [_("Measured at several settings: choose under Edit which of them the table shows.")]
    return DocumentTable(title, [_("Name"), _("Setting")], rows, notes=notes)


def _cells(runs: Sequence[ReportedRun], kind: str, metric: str, key: str) -> _Cells:
    cells: dict[tuple[str, str], list[list[float]]] = {}
    for run in runs:
        tests = [test for test in run.combinations(kind) if setting_key(test) == key]
        if values := [value for test in tests for value in test.values(metric)]:
            pair = run.run.pair
            cells.setdefault((pair.source.network_mode, pair.sink.network_mode), []).append(values)
    return cells


def _table(
    title: Label, tests: Sequence[Combination], cells: _Cells, measure: ModeFigure, shown: tuple[str, Sequence[str]]
) -> DocumentTable:
    (metric, order), statistic = shown, tests[0].statistic
    rows = [
        [_name(row), *(_cell(cells.get((row, column), ()), measure, statistic) for column in order)] for row in order
    ]
    columns = [_("from ↓ to →"), *map(_name, order)]
    notes = [_("{metric} of {kind}.").format(metric=metric, kind=tests[0].first.kind), *_spread_notes(cells)]
    caption = joined_label([title, setting_label(tests)])
    return DocumentTable(caption, columns, rows, list(range(1, len(columns))), [*notes, *_command_notes(tests)])


def _command_notes(tests: Sequence[Combination]) -> list[str]:
    command = setting_command(tests)
    return [command] if command else []


def _spread_notes(cells: _Cells) -> list[str]:
    """Say what stands in brackets, and what n counts."""
    notes = []
    if any(len(rounds) > 1 for rounds in cells.values()):
        notes.append(_("Of several runs the median, with the lowest and the highest; n counts runs."))
    if any(len(rounds) == 1 and len(rounds[0]) > 1 for rounds in cells.values()):
        notes.append(_("Of one run its repetitions, with the lowest and the highest; n counts repetitions."))
    if any(sum(map(len, rounds)) == 1 for rounds in cells.values()):
        notes.append(_("A cell without n was measured once."))
    return notes


def _name(mode: str) -> str:
    return mode_ref(mode or "host")


def _cell(rounds: Sequence[Sequence[float]], measure: ModeFigure, statistic: str) -> str:
    """Return the median of several rounds, or one round's repetitions combined, with spread and n."""
    if len(rounds) > 1:
        values, statistic = [combined(values, statistic) for values in rounds], "median"
    else:
        values = [value for values in rounds for value in values]
    return with_spread(values, statistic, measure.decimals, measure.factor)
