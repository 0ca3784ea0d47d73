"""netperf's tables: a row for each message size, UDP's two lines sent and received, request and response."""

from django.utils.translation import gettext as _

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import joined_label
from benchweb.reports.reported import Combination, ReportedRun
from benchweb.reports.tables.notation import count, filled, fixed, repeated

_STREAM = (
    "Recv Socket Size bytes",
    "Send Socket Size bytes",
    "Send Message Size bytes",
    "Elapsed Time secs.",
    "Throughput 10^6bits/sec",
)
_UDP = (
    "Socket Size bytes",
    "Message Size bytes",
    "Elapsed Time secs",
    "Messages Okay #",
    "Messages Errors #",
    "Throughput 10^6bits/sec",
)
_REQUESTS = (
    "Local/Remote Socket Send bytes",
    "Local/Remote Socket Recv bytes",
    "Request Size bytes",
    "Resp. Size bytes",
    "Elapsed Time secs.",
    "Trans. Rate per sec",
)
_REQUEST_TESTS = {"tcp_rr": "TCP_RR", "tcp_crr": "TCP_CRR", "udp_rr": "UDP_RR"}


def netperf_tables(run: ReportedRun) -> list[DocumentTable]:
    """Return all of netperf's tests that the run measured."""
    tables = [stream_table(run), udp_table(run)]
    tables += [_requests(run, kind, name) for kind, name in _REQUEST_TESTS.items()]
    return filled(tables)


def stream_table(run: ReportedRun) -> DocumentTable:
    """Return TCP_STREAM, a row for each size."""
    tests = list(run.combinations("tcp_stream"))
    rows = [
        [
            _buffer(test, "sink_receive"),
            _buffer(test, "source_send"),
            count(test.first.params["message_size_bytes"]),
            fixed(test.first.seconds),
            fixed(test.value("throughput_bps"), factor=1e-6),
        ]
        for test in tests
    ]
    return DocumentTable(joined_label(["TCP_STREAM", run.label]), list(_STREAM), rows, list(range(5)), _notes(tests))


def udp_table(run: ReportedRun) -> DocumentTable:
    """Return UDP_STREAM: of each size a line of what was sent, and below it one of what was received."""
    tests = [test for test in run.combinations("udp_stream") if test.values("sent_packets")]
    rows = []
    for test in tests:
        seconds = fixed(test.first.seconds)
        rows += [
            [
                _buffer(test, "source_send"),
                count(test.first.params["message_size_bytes"]),
                seconds,
                count(test.value("sent_packets")),
                count(test.value("errors")),
                fixed(test.value("send_throughput_bps"), factor=1e-6),
            ],
            [
                _buffer(test, "sink_receive"),
                "",
                seconds,
                count(test.value("received_packets")),
                "",
                fixed(test.value("throughput_bps"), factor=1e-6),
            ],
        ]
    notes = [_("The first line of a pair is what was sent, the second what was received.")] if rows else []
    return DocumentTable(
        joined_label(["UDP_STREAM", run.label]), list(_UDP), rows, list(range(6)), notes + _notes(tests)
    )


def _requests(run: ReportedRun, kind: str, name: str) -> DocumentTable:
    tests = list(run.combinations(kind))
    rows = []
    for test in tests:
        params = test.first.params
        rows += [
            [
                _buffer(test, "source_send"),
                _buffer(test, "source_receive"),
                count(params["request_size_bytes"]),
                count(params["response_size_bytes"]),
                fixed(test.first.seconds),
                fixed(test.value("transactions_per_second")),
            ],
            [_buffer(test, "sink_send"), _buffer(test, "sink_receive"), "", "", "", ""],
        ]
    return DocumentTable(joined_label([name, run.label]), list(_REQUESTS), rows, list(range(6)), _notes(tests))


def _buffer(test: Combination, which: str) -> str:
    return count(test.value(f"{which}_buffer_bytes"))


def _notes(tests: list[Combination]) -> list[str]:
    """Say what the columns leave out: how often each row was measured, and flows that are summed."""
    if not tests:
        return []
    notes = [_("n = {n} per row.").format(n=repeated(tests))]
    if flows := sorted({test.first.params.get("flows", 1) for test in tests} - {1, None}):
        notes.append(_("Sums of several flows: {flows}.").format(flows=", ".join(map(str, flows))))
    return notes
