"""iperf3's text, client's and server's, 3.0 to 3.2x: -P, -R, --bidir, -u, -V, omitted intervals, cut-off tests.

Units: "Bytes" go by 1,024, "bits" by 1,000 (iperf3's units.c).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchweb.toolformats.numbers import NUMBER, amount, binary_prefix, figure, losses, power_of_ten, rate
from benchweb.toolformats.readings import Figure, Interval, Lines, Reading

_BEGIN = re.compile(
    r"^(?:Connecting to host (?P<peer>\S+), port \d+|Accepted connection from (?P<client>\S+), port \d+"
    r"|iperf (?P<version>3\.\S+))"
)
_STAMP = re.compile(r"^(?:\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4} |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* )")
_ROLE = r"(?:\[(?P<role>[RT]X-[CS])\])?"
_ROW = re.compile(
    rf"^\[\s*(?P<id>\d+|SUM)\]\s*{_ROLE}\s*(?P<begin>\d+\.\d+)-\s*(?P<end>\d+\.\d+)\s+sec\s+(?P<amount>{NUMBER}|-?nan)\s+"
    rf"(?P<amount_unit>[KMGT]?Bytes)\s+(?P<rate>{NUMBER}|-?nan)\s+(?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)(?P<rest>.*)$"
)
_LOCAL = re.compile(rf"^\[\s*\d+\]\s*{_ROLE}\s*local (?P<local>\S+) port \d+ connected to (?P<remote>\S+) port \d+")
_HEAD = re.compile(r"^\[ ?ID\]\s*(?:\[Role\])?\s*Interval")
_UDP = re.compile(
    rf"^\s*(?P<jitter>{NUMBER}|-?nan)\s+ms\s+(?P<lost>-?\d+)\s*/\s*(?P<total>-?\d+)\s+\((?P<percent>[^)]*)\)"
)
_RETRANSMITS = re.compile(
    rf"^\s*(?P<count>\d+)(?:\s+(?P<window>{NUMBER})\s+(?P<unit>[KMG]?Bytes))?(?:\s+(?P<rtt>\d+)us)?"
)
_DATAGRAMS = re.compile(r"^\s*(?P<count>\d+)\s*(?:sender|receiver|\(omitted\))?\s*$")
_STARTING = re.compile(
    r"Starting Test: protocol: (?P<protocol>\w+), (?P<streams>\d+) streams?, (?P<block>\d+) byte blocks, "
    r"omitting \d+ seconds?(?:, (?P<seconds>\d+) second)?"
)
_CPU = re.compile(r"^CPU Utilization: \S+ ([\d.]+)% .*?, \S+ ([\d.]+)% ")
_ERROR = re.compile(r"^iperf3: (?:error - |interrupt - )?(?P<what>.+)$")
_SKIPPED = re.compile(
    r"^(?:- - - |-{10,}|Server listening|Test Complete|Cookie|TCP MSS|Target |Control connection|Time:"
    r"|Linux |System info|\[\s*\d+\] Sent \d+"
    r"|snd_tcp_congestion|rcv_tcp_congestion|warning|WARNING|Reverse mode|UDP MSS|Setting UDP|\s+\S+-)"
)
_DATAGRAM_SIZE = re.compile(r"^(?:Setting )?UDP block size (?:to )?(?P<bytes>\d+)")
# What a client writes at once without -l (DEFAULT_TCP_BLKSIZE); a datagram's default depends on version and path.
_TCP_BLOCK_BYTES = 128 * 1024
# Blank lines that may stand within one test.
_MOST_BLANKS = 3


@dataclass(slots=True)
class _Block:
    """One test while its lines are read."""

    is_server: bool = False
    is_udp: bool = False
    is_reverse: bool = False
    has_rule: bool = False
    in_summary: bool = False
    summary: list[tuple[re.Match[str], str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test that begins at `start`: by its first line, or at a head or row when that was left out."""
    first = _bare(lines[start])
    if not (_BEGIN.match(first) or _LOCAL.match(first) or _ERROR.match(first) or _row_like(lines, start)):
        return None
    reading, block = Reading(tool="iperf3", test="TCP"), _Block()
    index, blanks, last = start, 0, start
    while index < len(lines):
        line = _bare(lines[index])
        if index > start and _begins_next(line, block, reading):
            break
        if not line:
            blanks += 1
            if blanks > _MOST_BLANKS:
                break
        elif line.startswith("iperf Done"):
            last = index
            break
        elif not _take(line, reading, block) and not _goes_on(lines, index):
            break
        else:
            blanks, last = 0, index
        index += 1
    if not reading.intervals and not block.summary and not reading.error:
        return None
    _finish(reading, block)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _goes_on(lines: Sequence[str], index: int) -> bool:
    """Whether rows of the test follow a line that isn't known: a warning between them."""
    following = [_bare(line) for line in lines[index + 1 : index + 4]]
    return any(_ROW.match(line) or _LOCAL.match(line) or _STARTING.match(line) for line in following)


def _bare(line: str) -> str:
    return _STAMP.sub("", line.strip())


def _row_like(lines: Sequence[str], start: int) -> bool:
    """Whether a test begins here without its first line: a head with a row of iperf3's after it, or a row."""
    line = _bare(lines[start])
    if _HEAD.match(line) and start + 1 < len(lines):
        line = _bare(lines[start + 1])
    row = _ROW.match(line)
    # iperf 2 has two spaces less, and one or four decimals.
    return bool(row and re.match(r"^\d+\.\d\d$", row["end"]))


def _begins_next(line: str, block: _Block, reading: Reading) -> bool:
    begin = _BEGIN.match(line)
    if not begin:
        return bool(block.summary and _HEAD.match(line) and not block.in_summary)
    return bool(reading.intervals or block.summary or reading.error) or not (begin["version"] or reading.version)


def _take(line: str, reading: Reading, block: _Block) -> bool:
    """Take one line of a test; return False for what is none."""
    if begin := _BEGIN.match(line):
        if begin["version"]:
            reading.version = begin["version"]
        else:
            block.is_server = bool(begin["client"])
            reading.parameters["peer"] = begin["peer"] or begin["client"]
    elif row := _ROW.match(line):
        _take_row(row, reading, block)
    elif line.startswith("- - -"):
        # Several flows have a rule after each interval; the summary has a head of its own after it.
        block.has_rule = True
    elif _HEAD.match(line):
        block.in_summary = block.in_summary or block.has_rule
        block.is_udp = block.is_udp or "Datagrams" in line
    elif local := _LOCAL.match(line):
        # The client is the source, as long as the test isn't reversed.
        source, sink = ("remote", "local") if block.is_server != block.is_reverse else ("local", "remote")
        reading.parameters.setdefault("source_address", local[source])
        reading.parameters.setdefault("sink_address", local[sink])
    else:
        return _take_setting(line, reading, block)
    return True


def _take_setting(line: str, reading: Reading, block: _Block) -> bool:
    """Take a line that is no row and no head: what was asked for, CPU use, an error."""
    if starting := _STARTING.search(line):
        block.is_udp = starting["protocol"] == "UDP"
        reading.parameters.update(flows=int(starting["streams"]), message_size_bytes=int(starting["block"]))
        if starting["seconds"]:
            reading.parameters["duration_seconds"] = int(starting["seconds"])
    elif cpu := _CPU.match(line):
        for metric, text in zip(("source_cpu_ratio", "sink_cpu_ratio"), cpu.groups(), strict=True):
            if not reading.figure(metric):
                reading.add(figure(metric, text, "ratio", times=power_of_ten(-2), printed=f"{text} %"))
    elif error := _ERROR.match(line):
        reading.error = error["what"]
    elif line.startswith("Reverse mode"):
        block.is_reverse = True
    elif size := _DATAGRAM_SIZE.match(line):
        reading.parameters["message_size_bytes"] = int(size["bytes"])
    else:
        return bool(_SKIPPED.match(line))
    return True


def _take_row(row: re.Match[str], reading: Reading, block: _Block) -> None:
    rest = row["rest"]
    side = "sender" if "sender" in rest else "receiver" if "receiver" in rest else ""
    block.ids.add(row["id"])
    if block.in_summary or side:
        block.in_summary = True
        block.summary.append((row, side))
        return
    block.has_rule = False
    figures = [
        amount("transferred_bytes", row["amount"], row["amount_unit"]),
        rate(_prefix(row) + "throughput_bps", row["rate"], row["rate_unit"]),
        *_extras(rest, block, is_summary=False),
    ]
    part = f"{row['id']} {row['role']}" if row["role"] else row["id"]
    reading.intervals.append(
        Interval(
            float(row["begin"]),
            float(row["end"]),
            tuple(each for each in figures if each),
            part=part,
            is_omitted="(omitted)" in rest,
        )
    )


def _prefix(row: re.Match[str]) -> str:
    """Return the prefix of the metrics from server to client, which a client receives and a server sends."""
    return "reverse_" if row["role"] in {"RX-C", "TX-S"} else ""


def _extras(rest: str, block: _Block, *, is_summary: bool, part: str = "") -> list[Figure | None]:
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


def _finish(reading: Reading, block: _Block) -> None:
    """Put together the test's figures from its summary: the sums where there are any, and each flow's own."""
    reading.test = "UDP" if block.is_udp else "TCP"
    reading.kind = "udp_stream" if block.is_udp else "tcp_stream"
    flows = {row["id"] for row, _ in block.summary if row["id"] != "SUM"} or {
        each for each in block.ids if each != "SUM"
    }
    roles = {row["role"] for row, _ in block.summary if row["role"]}
    reading.parameters.setdefault("flows", max(1, len(flows) // 2 if len(roles) > 1 else len(flows)))
    if len(roles) > 1:
        reading.parameters["direction"] = "bidirectional"
    elif block.is_reverse:
        reading.parameters["direction"] = "reverse"
    if block.summary:
        reading.parameters.setdefault("duration_seconds", float(block.summary[-1][0]["end"]))
    elif not reading.error:
        reading.error = "The test has no summary: it was cut off."
    has_sum = any(row["id"] == "SUM" for row, _ in block.summary)
    for row, side in block.summary:
        is_whole = row["id"] == "SUM" or not has_sum
        _summary_figures(reading, block, row, side, part="" if is_whole else row["id"])
    _block_size(reading, block)


def _block_size(reading: Reading, block: _Block) -> None:
    """Note iperf3's own default where the text, without -V, prints no size of a write; of datagrams it isn't known."""
    if "message_size_bytes" in reading.parameters or not block.summary:
        return
    if block.is_udp:
        reading.remarks.append("The size of datagrams isn't printed: it isn't known.")
    else:
        reading.parameters["message_size_bytes"] = _TCP_BLOCK_BYTES
        reading.remarks.append("The size of a write isn't printed: iperf3's default of 128 KiB is taken.")


def _summary_figures(reading: Reading, block: _Block, row: re.Match[str], side: str, *, part: str) -> None:
    prefix = _prefix(row)
    # A server that receives prints 0.00 for the sender, which it doesn't know; a client before 3.2 has one row for UDP.
    if _is_unknown(row, side, block):
        what = f"{side or 'The total'} of {row['amount']} {row['amount_unit']}".capitalize()
        reading.remarks.append(f"{what}: this end doesn't know it; left out.")
    else:
        metric = (
            "send_throughput_bps"
            if side == "sender" or (block.is_udp and not side and not block.is_server)
            else "throughput_bps"
        )
        moved = "sent_bytes" if metric.startswith("send") else "received_bytes"
        reading.add(rate(prefix + metric, row["rate"], row["rate_unit"], part))
        reading.add(amount(prefix + moved, row["amount"], row["amount_unit"], part))
    known = {(each.metric, each.part) for each in reading.figures}
    if (
        side == "sender"
        and block.is_udp
        and any(other == "receiver" and r["id"] == row["id"] for r, other in block.summary)
    ):
        # iperf 3.2 on prints 0/N with the sender's row: the receiver's row knows what was lost.
        return
    for extra in _extras(row["rest"], block, is_summary=True, part=part):
        if extra and (prefix + extra.metric, part) not in known:
            reading.add(
                Figure(prefix + extra.metric, extra.value, extra.unit, extra.digits, extra.text, part, extra.is_derived)
            )


def _is_unknown(row: re.Match[str], side: str, block: _Block) -> bool:
    """Whether a zero means that this end doesn't know: the sender's row at a server, a UDP server's row of old."""
    is_zero = row["amount"] in {"0.00", "0.0", "0"}
    return (
        is_zero
        and (side == "sender" or not side)
        and (block.is_server or (block.is_reverse and side == "sender"))
        and bool(float(row["end"]))
    )
