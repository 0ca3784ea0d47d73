"""netperf's classic tables with all digits: STREAM, MAERTS, RR, CRR and the two lines of UDP_STREAM.

Source: netperf's manual, "Using netperf to measure bulk data transfer" and "… request/response performance".
"""

from benchweb.toolprints.printed import Measurement, count, digits

_NAMES = {
    "tcp_stream": "TCP STREAM TEST",
    "udp_stream": "UDP STREAM TEST",
    "tcp_rr": "TCP REQUEST/RESPONSE TEST",
    "tcp_crr": "TCP Connect/Request/Response TEST",
    "udp_rr": "UDP REQUEST/RESPONSE TEST",
}
KINDS = frozenset(_NAMES)
_STREAM_HEAD = """Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec
"""
_UDP_HEAD = """Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec
"""
_REQUEST_HEAD = """Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec
"""


def table(measured: Measurement) -> str:
    """Return the table of one test; of what netperf can't print a line that says what it is."""
    if measured.kind not in KINDS:
        return f"# {measured.kind}: netperf has no such test."
    if measured.params.get("direction") == "bidirectional":
        return f"# {measured.kind} in both directions at once: netperf has no such test."
    if measured.kind == "udp_stream":
        return _udp(measured)
    return _stream(measured) if measured.kind == "tcp_stream" else _requests(measured)


def notes(measured: Measurement) -> str:
    """Say in a line what the table has no column for; empty for nothing."""
    flows = measured.params.get("flows", 1)
    beyond = [f"{flows} flows, their sum"] if flows != 1 else []
    beyond += ["sendfile"] if measured.params.get("send_mode") == "sendfile" else []
    return f"# {measured.kind}: {', '.join(beyond)}." if beyond else ""


def _banner(measured: Measurement) -> str:
    is_reverse = measured.params.get("direction") == "reverse"
    name = "TCP MAERTS TEST" if is_reverse and measured.kind == "tcp_stream" else _NAMES[measured.kind]
    burst = f" : first burst {measured.params.get('burst', 0)}" if measured.kind.endswith("_rr") else ""
    return f"MIGRATED {name} from 0.0.0.0 (0.0.0.0) port 0 AF_INET to {measured.address} () port 0 AF_INET{burst}"


def _stream(measured: Measurement) -> str:
    rate = measured.metrics.get("throughput_bps")
    if rate is None:
        return _missing(measured, "throughput_bps")
    row = (
        f"{_buffer(measured, 'sink_receive'):>6} {_buffer(measured, 'source_send'):>6} "
        f"{_size(measured, 'message'):>6}    {digits(measured.seconds):<7}  {_mbits(rate)}"
    )
    return f"{_banner(measured)}\n{_STREAM_HEAD}\n{row}"


def _udp(measured: Measurement) -> str:
    needed = ("sent_packets", "received_packets", "send_throughput_bps", "throughput_bps")
    if lacking := [name for name in needed if name not in measured.metrics]:
        return _missing(measured, *lacking)
    sent, received, send_rate, rate = (measured.metrics[name] for name in needed)
    seconds = digits(measured.seconds)
    first = (
        f"{_buffer(measured, 'source_send'):>6} {_size(measured, 'message'):>7}   {seconds:<7} "
        f"{count(sent):>9} {count(measured.metrics.get('errors')):>6}    {_mbits(send_rate):>7}"
    )
    gap = " " * 11
    second = f"{_buffer(measured, 'sink_receive'):>6}{gap}{seconds:<7} {count(received):>9}{gap}{_mbits(rate):>7}"
    return f"{_banner(measured)}\n{_UDP_HEAD}\n{first}\n{second}\n"


def _requests(measured: Measurement) -> str:
    rate = measured.metrics.get("transactions_per_second")
    if rate is None:
        return _missing(measured, "transactions_per_second")
    sizes = [_size(measured, which) for which in ("request", "response")]
    first = (
        f"{_buffer(measured, 'source_send'):<6} {_buffer(measured, 'source_receive'):<6} {sizes[0]:<8} {sizes[1]:<6}  "
        f"{digits(measured.seconds):<7}  {digits(rate)}"
    )
    second = f"{_buffer(measured, 'sink_send'):<6} {_buffer(measured, 'sink_receive'):<6}"
    return f"{_banner(measured)}\n{_REQUEST_HEAD}\n{first}\n{second}"


def _size(measured: Measurement, which: str) -> int:
    """Return a size; of what an imported text doesn't tell -1, as netperf writes what it wasn't told."""
    size = measured.params[f"{which}_size_bytes"]
    return -1 if size is None else int(size)


def _buffer(measured: Measurement, which: str) -> str:
    return count(measured.metrics.get(f"{which}_buffer_bytes"))


def _mbits(value: float) -> str:
    return digits(value, exponent=-6)


def _missing(measured: Measurement, *metrics: str) -> str:
    return f"# {measured.kind}: not measured: {', '.join(metrics)}."
