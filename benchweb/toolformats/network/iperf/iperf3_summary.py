"""What iperf3's text sums up: figures of the whole test, and of each flow, from the rows behind the last rule."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchweb.toolformats.known import add_sums, percentage_remark
from benchweb.toolformats.numbers import NUMBER, amount, binary_prefix, figure, losses, power_of_ten, rate
from benchweb.toolformats.readings import Figure, Reading

_UDP = re.compile(
    rf"^\s*(?P<jitter>{NUMBER}|-?nan)\s+ms\s+(?P<lost>-?\d+)\s*/\s*(?P<total>-?\d+)\s+\((?P<percent>[^)]*)\)"
)
_RETRANSMITS = re.compile(
    rf"^\s*(?P<count>\d+)(?:\s+(?P<window>{NUMBER})\s+(?P<unit>[KMG]?Bytes))?(?:\s+(?P<rtt>\d+)us)?"
)
_DATAGRAMS = re.compile(r"^\s*(?P<count>\d+)\s*+(?:sender|receiver|\(omitted\))?\s*$")
_LEFT = "The other end left: the summary isn't of its time."
# What a client writes at once without -l (DEFAULT_TCP_BLKSIZE); a datagram's default depends on version and path.
_TCP_BLOCK_BYTES = 128 * 1024


@dataclass(slots=True)
class Block:
    """One test while its lines are read."""

    is_server: bool = False
    # Of a server's test: its rows count what it sent.
    is_sending: bool = False
    # A server that was stopped within the test.
    is_stopped: bool = False
    # A head between intervals: printed again when the other end left, before rates of another time than printed.
    has_head_again: bool = False
    is_udp: bool = False
    is_reverse: bool = False
    has_rule: bool = False
    in_summary: bool = False
    summary: list[tuple[re.Match[str], str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    # Metrics and parts that follow a rate and are there already.
    extras: set[tuple[str, str]] = field(default_factory=set)


def prefix_of(row: re.Match[str]) -> str:
    """Return the prefix of the metrics from server to client, which a client receives and a server sends."""
    return "reverse_" if row["role"] in {"RX-C", "TX-S"} else ""


def has_datagrams(rest: str) -> bool:
    """Whether a row tells of jitter and datagrams."""
    return bool(_UDP.match(rest))


def extras(rest: str, block: Block, *, is_summary: bool, part: str = "") -> list[Figure | None]:
    """Return what follows a row's rate: jitter and datagrams, retransmits and window, or datagrams sent."""
    if udp := _UDP.match(rest):
        block.is_udp = True
        return list(losses(udp["jitter"], int(udp["lost"]), int(udp["total"]), part))
    if block.is_udp and (sent := _DATAGRAMS.match(rest)):
        return [figure("sent_packets", sent["count"], "pkt", part=part)]
    if tcp := _RETRANSMITS.match(rest):
        if block.is_udp:
            return []
        figures = [figure("retransmits", tcp["count"], "segments", part=part)]
        if tcp["window"] and not is_summary:
            unit = tcp["unit"]
            figures.append(
                figure(
                    "congestion_window_bytes",
                    tcp["window"],
                    "B",
                    times=binary_prefix(unit[:-5]),
                    printed=f"{tcp['window']} {unit}",
                )
            )
        if tcp["rtt"]:
            figures.append(figure("rtt_seconds", tcp["rtt"], "s", times=power_of_ten(-6), printed=f"{tcp['rtt']}us"))
        return figures
    return []


def finish(reading: Reading, block: Block) -> None:
    """Put together the test's figures from its summary: the sums where there are any, and each flow's own."""
    reading.is_server = block.is_server
    reading.test = "UDP" if block.is_udp else "TCP"
    reading.kind = "udp_stream" if block.is_udp else "tcp_stream"
    flows = {row["id"] for row, _ in block.summary if row["id"] != "SUM"} or {
        each for each in block.ids if each != "SUM"
    }
    is_both = len(block.roles) > 1
    if block.has_head_again and block.summary:
        reading.error = reading.error or _LEFT
    elif block.is_server and block.summary and not block.is_stopped:
        # A server's complaints stand where its errors are written: before or behind the test that they are of.
        reading.error = ""
    reading.parameters.setdefault("flows", max(1, len(flows) // 2 if is_both else len(flows)))
    if is_both:
        reading.parameters["direction"] = "bidirectional"
    elif block.is_reverse or block.is_sending:
        reading.parameters["direction"] = "reverse"
    if block.summary:
        reading.parameters.setdefault("duration_seconds", float(block.summary[-1][0]["end"]))
    elif not reading.error:
        reading.error = "The test has no summary: it was cut off."
    for prefix, side in dict.fromkeys((prefix_of(row), side) for row, side in block.summary):
        rows = [row for row, its in block.summary if its == side and prefix_of(row) == prefix]
        _side(reading, block, rows, side, prefix)
    if block.has_head_again:
        reading.figures = [figure for figure in reading.figures if not figure.metric.endswith("throughput_bps")]
    _block_size(reading, block)


def _side(reading: Reading, block: Block, rows: Sequence[re.Match[str]], side: str, prefix: str) -> None:
    """Take the rows of one end in one direction: the sum is the whole, a single flow is, and all flows are together."""
    count = reading.parameters["flows"]
    flows = list(dict.fromkeys(row["id"] for row in rows if row["id"] != "SUM"))
    has_sum = any(row["id"] == "SUM" for row in rows)
    is_single = not has_sum and count == 1
    for row in rows:
        _summary_figures(reading, block, row, side, part="" if is_single or row["id"] == "SUM" else row["id"])
    if has_sum or is_single:
        return
    if len(flows) == count:
        add_sums(reading, flows, prefix)
    else:
        reading.error = reading.error or (
            f"Rows of {len(flows)} of {count} flows stand here without their sum: the whole isn't known."
        )


def _block_size(reading: Reading, block: Block) -> None:
    """Note iperf3's own default where the text, without -V, prints no size of a write; of datagrams it isn't known."""
    if "message_size_bytes" in reading.parameters or not block.summary:
        return
    if block.is_udp:
        reading.remarks.append("The size of datagrams isn't printed: it isn't known.")
    else:
        reading.parameters["message_size_bytes"] = _TCP_BLOCK_BYTES
        reading.remarks.append("The size of a write isn't printed: iperf3's default of 128 KiB is taken.")


def _summary_figures(reading: Reading, block: Block, row: re.Match[str], side: str, *, part: str) -> None:
    prefix = prefix_of(row)
    # A server that receives prints 0.00 for the sender, which it doesn't know; a client before 3.2 has one row for UDP.
    if _is_unknown(row, side, block):
        what = f"{side or 'The total'} of {row['amount']} {row['amount_unit']}".capitalize()
        reading.remarks.append(f"{what}: this end doesn't know it; left out.")
    else:
        metric = (
            "send_throughput_bps"
            if side == "sender" or (block.is_udp and not side and (block.is_sending or not block.is_server))
            else "throughput_bps"
        )
        moved = "sent_bytes" if metric.startswith("send") else "received_bytes"
        reading.add(rate(prefix + metric, row["rate"], row["rate_unit"], part))
        reading.add(amount(prefix + moved, row["amount"], row["amount_unit"], part))
    if block.is_sending and not side:
        # What arrived is for the client to tell: an old server prints zeros.
        return
    if side == "sender" and block.is_udp:
        # iperf 3.2 on prints 0/N with the sender's row: only the receiver knows what was lost, and what it took.
        if (udp := _UDP.match(row["rest"])) and int(udp["total"]) > 0:
            reading.add(figure(f"{prefix}sent_packets", udp["total"], "pkt", part=part))
        return
    if (udp := _UDP.match(row["rest"])) and (
        remark := percentage_remark(udp["percent"], int(udp["lost"]), int(udp["total"]))
    ):
        reading.remarks.append(remark)
    for extra in extras(row["rest"], block, is_summary=True, part=part):
        if extra and (prefix + extra.metric, part) not in block.extras:
            block.extras.add((prefix + extra.metric, part))
            reading.add(replace(extra, metric=prefix + extra.metric, part=part))


def _is_unknown(row: re.Match[str], side: str, block: Block) -> bool:
    """Whether a zero means that this end doesn't know: the sender's row at a server, a UDP server's row of old."""
    is_zero = row["amount"] in {"0.00", "0.0", "0"}
    if is_zero and side == "receiver":
        # A client that was interrupted never heard of it; datagrams that were all lost are counted.
        udp = _UDP.match(row["rest"])
        return not (udp and int(udp["total"]) > 0) and _has_sent(block, prefix_of(row))
    return (
        is_zero
        and (side == "sender" or not side)
        and (block.is_server or (block.is_reverse and side == "sender"))
        and bool(float(row["end"]))
    )


def _has_sent(block: Block, prefix: str) -> bool:
    """Whether the sender's row tells that something was on its way."""
    rows = [row for row, side in block.summary if side == "sender" and prefix_of(row) == prefix]
    return any(row["amount"] not in {"0.00", "0.0", "0"} for row in rows)
