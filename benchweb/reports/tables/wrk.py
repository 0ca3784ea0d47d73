"""wrk's statistics of threads: latency and requests per second with deviation, then the totals."""

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import joined_label
from benchweb.reports.reported import Combination, ReportedRun
from benchweb.reports.tables.notation import count, filled, fixed, percent, rate_of_wrk, time_of_wrk

_COLUMNS = ["Thread Stats", "Avg", "Stdev", "Max", "+/- Stdev"]
_MEBI = 1024 * 1024


def wrk_tables(run: ReportedRun) -> list[DocumentTable]:
    """Return a table for each HTTP test. A thread's own rates stand there where wrk printed them."""
    return filled([_table(run, test) for test in run.combinations("http_load")])


def _table(run: ReportedRun, test: Combination) -> DocumentTable:
    latency = [time_of_wrk(test.value(f"latency_{name}_seconds")) for name in ("mean", "stddev", "max")]
    threads = [rate_of_wrk(test.value(f"thread_requests_per_second_{name}")) for name in ("mean", "stddev", "max")]
    transfer = test.value("received_bytes_per_second")
    rows = [
        ["Latency", *latency, percent(test.value("latency_within_stddev_ratio"))],
        ["Req/Sec", *threads, percent(test.value("thread_requests_within_stddev_ratio"))],
        ["Requests/sec", fixed(test.value("requests_per_second")), "", "", ""],
        ["Transfer/sec", f"{fixed(transfer, factor=1 / _MEBI)}MB" if transfer is not None else "—", "", "", ""],
    ]
    params = test.first.params
    command = f"wrk -t{params['threads']} -c{params['connections']} -d{test.first.seconds:g}s"
    title = joined_label([command, run.label, f"n = {test.n}"])
    return DocumentTable(title, list(_COLUMNS), rows, [1, 2, 3, 4], _notes(test))


def _notes(test: Combination) -> list[str]:
    names = ("connect", "read", "write", "timeout")
    errors = [test.value(f"{name}_errors") for name in names]
    if not any(errors):
        return []
    return ["Socket errors: " + ", ".join(f"{name} {count(error)}" for name, error in zip(names, errors, strict=True))]
