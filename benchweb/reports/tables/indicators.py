"""A wide-area path's indicators: availability, response time, utilisation, throughput, capacity, what remains of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import Label, free_text, joined_label, run_ref, worded
from benchweb.reports.models import Report
from benchweb.reports.remaining import Remaining, remaining_read
from benchweb.reports.reported import Combination, ReportedRun
from benchweb.reports.tables.notation import MISSING, filled, fixed, percent, with_spread
from benchweb.reports.tables.settings import setting_key, setting_label

_Best = Callable[[Sequence[float]], float]
_MEGA, _MILLI = 1e-6, 1e3


@dataclass(frozen=True)
class _Chosen:
    """The test of a kind that a row tells of, and why this one of several."""

    test: Combination
    why: str


def indicator_tables(runs: Sequence[ReportedRun], report: Report) -> list[DocumentTable]:
    """Return a row for each run; an indicator that it didn't measure is a dash."""
    columns = [
        _("Path"),
        _("Availability"),
        _("Response time (ms)"),
        _("Utilisation"),
        _("Throughput (Mbits/sec)"),
        _("Bandwidth capacity (Mbits/sec)"),
        _("Remaining bandwidth (Mbits/sec)"),
        _("UDP received"),
    ]
    remaining = remaining_read(report.remaining)
    chosen = {run.run.pk: _chosen_tests(run, report) for run in runs}
    rows = [_row(run, chosen[run.run.pk], remaining.get(run.run.pk)) for run in runs]
    notes = [*_meanings(), *_test_notes(chosen), *_remaining_notes(remaining)]
    return filled([DocumentTable(_("Five indicators"), columns, rows, list(range(1, len(columns))), notes)])


def _meanings() -> list[str]:
    return [
        _("Availability is the share of pings that were answered, response time their mean."),
        _(
            "Utilisation is throughput over capacity: the payload ceiling of the link as the kernel reports its speed, "
            "else the slower of the speeds that were entered for the two endpoints."
        ),
        _("In brackets the lowest and highest repetition, and how many there are."),
    ]


def _row(run: ReportedRun, chosen: Mapping[str, _Chosen], remaining: Remaining | None) -> list[str]:
    loss = _value(chosen, "ping", "loss_ratio")
    throughput = _value(chosen, "tcp_stream", "throughput_bps")
    capacity = _value(chosen, "tcp_stream", "payload_ceiling_bps") or _entered_bps(run)
    lost = _value(chosen, "udp_stream", "loss_ratio")
    written = _written(chosen, "tcp_stream", "throughput_bps", 2, _MEGA)
    return [
        run.label,
        percent(None if loss is None else 1 - loss),
        _written(chosen, "ping", "latency_mean_seconds", 3, _MILLI),
        percent(throughput / capacity if throughput is not None and capacity else None),
        written,
        fixed(capacity, factor=_MEGA),
        _remaining(remaining, written),
        percent(None if lost is None else 1 - lost),
    ]


def _remaining(remaining: Remaining | None, measured: str) -> str:
    """Return what the author entered, or what was measured beside the traffic that they name."""
    if remaining is None:
        return MISSING
    return measured if remaining.background else fixed(remaining.entered_bps, factor=_MEGA)


def _chosen_tests(run: ReportedRun, report: Report) -> dict[str, _Chosen]:
    """Return of each kind the test that the author chose, else the best one."""
    wanted: tuple[tuple[str, str, _Best], ...] = (
        ("tcp_stream", "throughput_bps", max),
        ("ping", "latency_mean_seconds", min),
        ("udp_stream", "loss_ratio", min),
    )
    found: dict[str, _Chosen] = {}
    for kind, metric, best in wanted:
        tests = list(run.combinations(kind))
        chosen = [test for test in tests if setting_key(test) in report.chosen_settings]
        pool = chosen or tests
        values = {value: test for test in pool if (value := test.value(metric)) is not None}
        if pool:
            found[kind] = _Chosen(values[best(list(values))] if values else pool[0], _why(chosen, tests))
    return found


def _why(chosen: Sequence[Combination], tests: Sequence[Combination]) -> str:
    if len(tests) == 1:
        return ""
    words = _("as chosen, of {number} tests") if chosen else _("the best of {number} tests")
    return words.format(number=len(tests))


def _test_notes(chosen: Mapping[int, Mapping[str, _Chosen]]) -> Iterator[Label]:
    """Name the test that each figure is of, with the runs that have it."""
    runs: dict[Label, list[Label]] = {}
    for run_id, of_run in chosen.items():
        for one in of_run.values():
            runs.setdefault(joined_label([setting_label([one.test]), one.why], ", "), []).append(run_ref(run_id))
    for test, refs in runs.items():
        yield worded(_("Run {runs}: {test}."), runs=joined_label(refs, ", "), test=test)


def _remaining_notes(remaining: Mapping[int, Remaining]) -> Iterator[Label]:
    """Say of each remaining bandwidth whether it was measured, and beside what, or entered, and by whom."""
    for run_id, said in remaining.items():
        if said.background:
            sentence, words = _("Run {run}: remaining bandwidth as measured under {words}."), said.background
        elif said.whose:
            sentence, words = _("Run {run}: remaining bandwidth entered by the author, {words}."), said.whose
        else:
            sentence, words = _("Run {run}: remaining bandwidth entered by the author."), ""
        yield worded(sentence, run=run_ref(run_id), words=free_text(words))


def _entered_bps(run: ReportedRun) -> float | None:
    """Return the speed of the path's slower end, of those that somebody entered."""
    speeds = (end.link_bps for end in (run.run.pair.source, run.run.pair.sink))
    return min((speed for speed in speeds if speed), default=None)


def _value(chosen: Mapping[str, _Chosen], kind: str, metric: str) -> float | None:
    return chosen[kind].test.value(metric) if kind in chosen else None


def _written(chosen: Mapping[str, _Chosen], kind: str, metric: str, decimals: int, factor: float) -> str:
    test = chosen[kind].test if kind in chosen else None
    return with_spread(test.values(metric), test.statistic, decimals, factor) if test else MISSING
