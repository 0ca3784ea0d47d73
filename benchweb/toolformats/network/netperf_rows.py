"""The rows of netperf's classic tables: which column is what, and in which unit."""

import re
from collections.abc import Sequence
from decimal import Decimal

from benchweb.toolformats.numbers import derived, exact, figure, power_of_ten
from benchweb.toolformats.readings import Reading

Rows = list[list[str]]
RATE_UNIT = re.compile(r"(10\^[369]|[KMG])\s*+(bits|bytes)?\s*/\s*s(?:ec)?", re.IGNORECASE)


# The columns of each test's first row: whole numbers are sizes and counts, others times and rates.
_UDP_SENT, _UDP_RECEIVED = "iifiif", "ifif"
_STREAM, _REQUESTS = "iiiff", "iiiiff"
_SHAPES = (("UDP_STREAM", _UDP_SENT), ("_RR", _REQUESTS), ("_CRR", _REQUESTS), ("_CC", _REQUESTS))


def _shapes(row: Sequence[str], shape: str) -> bool:
    """Whether a row's columns have a test's shape; a rate may have lost its decimals."""
    return (
        len(row) >= len(shape)
        and all(kind == "f" or text.lstrip("-").isdigit() for text, kind in zip(row, shape, strict=False))
        and "." in row[shape.index("f")]
    )


def fill(reading: Reading, rows: Rows, unit: str) -> None:
    """Take a table's rows, by the columns of its test; `unit` is that of the head, empty for netperf's usual."""
    if not rows:
        return
    if reading.test == "UDP_STREAM" and len(rows) > 1 and not _shapes(rows[1], _UDP_RECEIVED):
        # What was sent, again: of what was received nothing is known.
        rows = rows[:1]
    shape = next((shape for end, shape in _SHAPES if reading.test.endswith(end)), _STREAM)
    if len(rows[0]) >= len(shape) and not _shapes(rows[0], shape):
        reading.error = reading.error or "The row isn't one of this test: its columns are another test's."
        return
    if reading.test == "UDP_STREAM":
        take = _udp_rows
    else:
        take = _request_rows if reading.test.endswith(("_RR", "_CRR", "_CC")) else _stream_row
    try:
        take(reading, rows, unit)
    except (IndexError, ValueError):
        reading.error = reading.error or "The row has fewer columns than netperf prints: it was cut off."


def _stream_row(reading: Reading, rows: Rows, unit: str) -> None:
    """Recv socket, send socket, message, seconds, throughput; with -c -C the CPU's share and cost follow."""
    row = rows[0]
    receive, send, message, seconds, rate = row[:5]
    reading.parameters.update(message_size_bytes=int(message), duration_seconds=float(seconds))
    _buffers(reading, sink_socket_buffer_bytes=receive, source_socket_buffer_bytes=send)
    reading.add(figure("throughput_bps", rate, "bit/s", times=rate_unit(unit)))
    _cpu(reading, row[5:])


def _udp_rows(reading: Reading, rows: Rows, unit: str) -> None:
    """First line sent: socket, message, seconds, okay, errors, rate. Second received: socket, seconds, okay, rate."""
    socket, message, seconds, okay, errors, rate = rows[0][:6]
    reading.parameters.update(message_size_bytes=int(message), duration_seconds=float(seconds))
    _buffers(reading, source_socket_buffer_bytes=socket)
    sent = figure("sent_packets", okay, "pkt")
    reading.add(sent)
    if int(errors) >= 0:
        reading.add(figure("errors", errors, "errors"))
    reading.add(figure("send_throughput_bps", rate, "bit/s", times=rate_unit(unit)))
    # With -c -C the share of CPU stands behind the rate of each line.
    _cpu(reading, [row[column] if column < len(row) else "" for row, column in zip(rows, (6, 4), strict=False)])
    if len(rows) < 2:
        reading.remarks.append("The line of what was received is missing.")
        return
    sink_socket, sink_seconds, received_text, sink_rate = rows[1][:4]
    _buffers(reading, sink_socket_buffer_bytes=sink_socket)
    received = figure("received_packets", received_text, "pkt")
    reading.add(received)
    reading.add(figure("throughput_bps", sink_rate, "bit/s", times=rate_unit(unit)))
    for metric, packets, over in (
        ("send_packets_per_second", sent, seconds),
        ("packets_per_second", received, sink_seconds),
    ):
        if packets and float(over) > 0:
            reading.add(derived(metric, packets.value / float(over), "pkt/s", (packets,)))
    if sent and received and sent.value >= received.value and sent.value > 0:
        lost = sent.value - received.value
        reading.add(derived("lost_packets", lost, "pkt", (sent, received)))
        reading.add(derived("loss_ratio", lost / sent.value, "ratio", (sent, received)))


def _request_rows(reading: Reading, rows: Rows, unit: str) -> None:
    """Send and recv socket, request, response, seconds, rate; the second line is the remote's sockets."""
    row = rows[0]
    send, receive, request, response, seconds, rate = row[:6]
    _buffers(reading, source_socket_buffer_bytes=send, source_receive_buffer_bytes=receive)
    reading.parameters.update(
        request_size_bytes=int(request),
        response_size_bytes=int(response),
        duration_seconds=float(seconds),
    )
    reading.add(figure("transactions_per_second", rate, "transactions/s"))
    _cpu(reading, row[6:])
    if len(rows) > 1:
        remote = rows[1]
        _buffers(reading, sink_send_buffer_bytes=remote[0], sink_receive_buffer_bytes=remote[1])


def _buffers(reading: Reading, **buffers: str) -> None:
    """Take the socket sizes; -1 says that netperf was not told."""
    for name, text in buffers.items():
        if (size := int(text)) >= 0:
            reading.parameters[name] = size


def _cpu(reading: Reading, columns: Sequence[str]) -> None:
    """Add the shares of CPU; -1.00 says that netperf measured none."""
    for metric, text in zip(("source_cpu_ratio", "sink_cpu_ratio"), columns[:2], strict=False):
        number = exact(text)
        if number is not None and number >= 0:
            reading.add(figure(metric, text, "ratio", times=power_of_ten(-2), printed=f"{text} %"))


def rate_unit(unit: str) -> Decimal:
    """Return the bits per second of one netperf's unit; 10^6 bits/s where no head says another."""
    match = RATE_UNIT.search(unit)
    if not match:
        return power_of_ten(6)
    prefix, what = match.group(1), (match.group(2) or "bits").lower()
    if prefix.startswith("10^"):
        return power_of_ten(int(prefix[3:])) * (8 if what == "bytes" else 1)
    # -f K, M, G: bytes, by powers of two.
    scale = Decimal(1024 ** ("KMG".index(prefix.upper()) + 1))
    return scale * (8 if what == "bytes" else 1)
