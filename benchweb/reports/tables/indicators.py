"""A wide-area path's five indicators: availability, response time, utilisation, throughput, bandwidth capacity."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from benchweb.documents.document import DocumentTable
from benchweb.reports.reported import ReportedRun
from benchweb.reports.tables.notation import filled, fixed, percent


def indicator_tables(runs: Sequence[ReportedRun]) -> list[DocumentTable]:
    """Return a row for each run; an indicator that it didn't measure is a dash."""
    columns = [
        _("Path"),
        _("Availability"),
        _("Response time (ms)"),
        _("Utilisation"),
        _("Throughput (Mbits/sec)"),
        _("Bandwidth capacity (Mbits/sec)"),
    ]
    rows = [_row(run) for run in runs]
    notes = [
        _("Availability is the share of pings that were answered, response time their mean."),
        _(
            "Utilisation is throughput over capacity: the payload ceiling of the link as the kernel reports its speed, "
            "else the slower of the speeds that were entered for the two endpoints."
        ),
    ]
    return filled([DocumentTable(_("Five indicators"), columns, rows, [1, 2, 3, 4, 5], notes)])


def _row(run: ReportedRun) -> list[str]:
    loss = _first(run, "ping", "loss_ratio")
    throughput = _first(run, "tcp_stream", "throughput_bps")
    capacity = _first(run, "tcp_stream", "payload_ceiling_bps") or _entered_bps(run)
    used = throughput / capacity if throughput is not None and capacity else None
    return [
        run.label,
        percent(None if loss is None else 1 - loss),
        fixed(_first(run, "ping", "latency_mean_seconds"), 3, factor=1e3),
        percent(used),
        fixed(throughput, factor=1e-6),
        fixed(capacity, factor=1e-6),
    ]


def _entered_bps(run: ReportedRun) -> float | None:
    """Return the speed of the path's slower end, of those that somebody entered."""
    speeds = (end.link_bps for end in (run.run.pair.source, run.run.pair.sink))
    return min((speed for speed in speeds if speed), default=None)


def _first(run: ReportedRun, kind: str, metric: str) -> float | None:
    """Return the figure of the first test that has it."""
    values: Iterable[float | None] = (test.value(metric) for test in run.combinations(kind))
    return next((value for value in values if value is not None), None)
