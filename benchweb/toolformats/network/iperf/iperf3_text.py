"""iperf3's text, client's and server's, 3.0 to 3.2x: -P, -R, --bidir, -u, -V, omitted intervals, cut-off tests.

Units: "Bytes" go by 1,024, "bits" by 1,000 (iperf3's units.c).
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from benchweb.toolformats.network.iperf.iperf3_summary import Block, extras, finish, has_datagrams, prefix_of
from benchweb.toolformats.numbers import NUMBER, amount, figure, power_of_ten, rate
from benchweb.toolformats.readings import LONGEST_HEAD, Figure, Interval, Lines, Reading, RowFigures

_BEGIN = re.compile(
    r"^(?:Connecting to host (?P<peer>\S+), port \d+|Accepted connection from (?P<client>\S+), port \d+"
    r"|iperf (?P<version>3\.\S+))"
)
_STAMP = re.compile(r"^(?:\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4} |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* )")
_ROLE = r"(?:\[(?P<role>[RT]X-[CS])\])?"
_ROW = re.compile(
    rf"^\[\s*(?P<id>\d+|SUM)\s*\]\s*+{_ROLE}\s*(?P<begin>\d+\.\d+)-\s*(?P<end>\d+\.\d+)\s+sec\s+(?P<amount>{NUMBER}|-?nan)\s+"
    rf"(?P<amount_unit>[KMGT]?Bytes)\s+(?P<rate>{NUMBER}|-?nan)\s+(?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)(?P<rest>.*)$"
)
_LOCAL = re.compile(rf"^\[\s*\d+\s*\]\s*+{_ROLE}\s*local (?P<local>\S+) port \d+ connected to (?P<remote>\S+) port \d+")
_HEAD = re.compile(r"^\[ ?ID ?\]\s*+(?:\[Role\])?\s*Interval")
_STARTING = re.compile(
    r"Starting Test: protocol: (?P<protocol>\w+), (?P<streams>\d+) streams?, (?P<block>\d+) byte blocks, "
    r"omitting (?P<omitted>\d+) seconds?(?:, (?P<seconds>\d+) second)?"
)
_CPU = re.compile(r"(?:local|remote)/(?P<side>sender|receiver) (?P<percent>[\d.]+)% ")
_TARGET = re.compile(r"^Target (?:Bitrate|Bandwidth): (?P<bps>[1-9]\d*)$")
# What it only warns of is no error.
_ERROR = re.compile(r"^iperf3: (?!OUT OF ORDER|[Ww]arning|WARNING)(?:error - |interrupt - )?(?P<what>.+)$")
# A server that was stopped while it waited has ended no test.
_STOPPED = "the server has terminated"
_SEGMENT = re.compile(r"^TCP MSS: (?P<bytes>[1-9]\d*)")
_TIME = re.compile(r"^Time: \w{3}, (?P<at>\d\d \w{3} \d{4} \d\d:\d\d:\d\d) GMT")
_SKIPPED = re.compile(
    r"^(?:iperf3: |- - - |-{10,}|Server listening|Test Complete|Cookie|TCP MSS|Target |Control connection|Time:"
    r"|Linux |System info|\[\s*\d+\s*\] Sent \d+"
    r"|snd_tcp_congestion|rcv_tcp_congestion|warning|WARNING|Reverse mode|UDP MSS|Setting UDP|\s+\S+-)"
)
_DATAGRAM_SIZE = re.compile(r"^(?:Setting )?UDP block size (?:to )?(?P<bytes>\d+)")
# Blank lines that may stand within one test.
_MOST_BLANKS = 3
# iperf3 has at most 128 flows each way, with two rows each, and sums.
_MOST_SUMMARY_ROWS = 1_000


def read(lines: Sequence[str], start: int) -> tuple[Reading | list[Reading], int] | None:
    """Return the test that begins at `start`: by its first line, or at a head or row when that was left out."""
    first = _bare(lines[start])
    if not (_BEGIN.match(first) or _LOCAL.match(first) or _ERROR.match(first) or _row_like(lines, start)):
        return None
    reading, block = Reading(tool="iperf3", test="TCP"), Block()
    index, blanks, last = start, 0, start
    while index < len(lines):
        line, wrapped = _whole(lines, index)
        if index > start and (_begins_next(line, block, reading) or len(block.summary) >= _MOST_SUMMARY_ROWS):
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
            blanks, last = 0, index + wrapped
        index += 1 + wrapped
    if not reading.intervals and not block.summary and (not reading.error or reading.error.startswith(_STOPPED)):
        if reading.error:
            return [], last + 1
        return ([], last + 1) if last - start > LONGEST_HEAD else None
    # Behind a rule it is written of a server that waits.
    block.is_stopped = reading.error.startswith(_STOPPED) and bool(_ERROR.match(_bare(lines[last])))
    has_flows = "flows" in reading.parameters
    finish(reading, block)
    if "peer" not in reading.parameters:
        # The line that tells of it stands at the begin; and of sums alone nobody knows of how many flows.
        reading.untold = ("direction",) if "direction" not in reading.parameters else ()
        if block.ids == {"SUM"} and not has_flows:
            del reading.parameters["flows"]
            reading.untold += ("flows",)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _whole(lines: Sequence[str], index: int) -> tuple[str, int]:
    """Return a line with the side that a mail has wrapped behind its row, and how many lines that is more."""
    line = _bare(lines[index])
    following = lines[index + 1].strip() if index + 1 < len(lines) else ""
    if following in {"sender", "receiver"} and _ROW.match(line):
        return f"{line} {following}", 1
    return line, 0


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


def _begins_next(line: str, block: Block, reading: Reading) -> bool:
    begin = _BEGIN.match(line)
    if begin and begin["peer"] and _is_told_first(reading, block):
        return False
    if line.startswith("Server listening"):
        return bool(reading.intervals or block.summary)
    if not begin:
        return bool(block.summary and _HEAD.match(line))
    return bool(reading.intervals or block.summary or reading.error) or not (begin["version"] or reading.version)


def _is_told_first(reading: Reading, block: Block) -> bool:
    """Whether only an error was told so far: written to a file, it comes before the test that it ended.

    Of a test that never began nothing follows.
    """
    is_alone = bool(reading.error) and not (reading.intervals or block.summary or "peer" in reading.parameters)
    return is_alone and not reading.error.startswith("unable to connect")


def _take(line: str, reading: Reading, block: Block) -> bool:
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
        block.has_head_again = block.has_head_again or bool(reading.intervals and not block.has_rule)
        block.in_summary = block.in_summary or block.has_rule
        block.is_udp = block.is_udp or "Datagrams" in line
        is_sender_s = "Retr" in line or ("Total Datagrams" in line and "Jitter" not in line)
        if block.is_server and not (block.in_summary or block.is_sending or "Role" in line) and is_sender_s:
            block.is_sending = True
            _turn(reading)
    elif local := _LOCAL.match(line):
        # The client is the source, as long as the test isn't reversed.
        source, sink = ("remote", "local") if block.is_server != block.is_reverse else ("local", "remote")
        reading.parameters.setdefault("source_address", local[source])
        reading.parameters.setdefault("sink_address", local[sink])
    else:
        return _take_setting(line, reading, block)
    return True


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%d %b %Y %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _turn(reading: Reading) -> None:
    """Say source and sink the other way round: what a server sends goes to the client."""
    ends = [reading.parameters.pop(name, None) for name in ("source_address", "sink_address")]
    for name, end in zip(("sink_address", "source_address"), ends, strict=True):
        if end is not None:
            reading.parameters[name] = end


def _take_setting(line: str, reading: Reading, block: Block) -> bool:
    """Take a line that is no row and no head: what was asked for, CPU use, an error."""
    if starting := _STARTING.search(line):
        block.is_udp = starting["protocol"] == "UDP"
        reading.parameters.update(flows=int(starting["streams"]), message_size_bytes=int(starting["block"]))
        if starting["omitted"] != "0":
            reading.parameters["warmup_seconds"] = int(starting["omitted"])
        if starting["seconds"]:
            reading.parameters["duration_seconds"] = int(starting["seconds"])
    elif line.startswith("CPU Utilization: "):
        _take_cpu(line, reading)
    elif segment := _SEGMENT.match(line):
        reading.parameters["maximum_segment_bytes"] = int(segment["bytes"])
    elif time := _TIME.match(line):
        reading.began_at = _moment(time["at"])
    elif target := _TARGET.match(line):
        reading.parameters["rate_bps"] = int(target["bps"])
    elif error := _ERROR.match(line):
        reading.error = error["what"]
    elif line.startswith("Reverse mode"):
        block.is_reverse = True
    elif size := _DATAGRAM_SIZE.match(line):
        reading.parameters["message_size_bytes"] = int(size["bytes"])
    else:
        return bool(_SKIPPED.match(line))
    return True


def _take_cpu(line: str, reading: Reading) -> None:
    for side, text in _CPU.findall(line):
        metric = "source_cpu_ratio" if side == "sender" else "sink_cpu_ratio"
        if not reading.figure(metric):
            reading.add(figure(metric, text, "ratio", times=power_of_ten(-2), printed=f"{text} %"))


def _take_row(row: re.Match[str], reading: Reading, block: Block) -> None:
    rest = row["rest"]
    side = "sender" if "sender" in rest else "receiver" if "receiver" in rest else ""
    block.ids.add(row["id"])
    if row["role"]:
        block.roles.add(row["role"])
    if block.in_summary or side:
        block.in_summary = True
        block.summary.append((row, side))
        return
    block.has_rule = False
    block.is_udp = block.is_udp or has_datagrams(rest)
    reading.intervals.append(
        Interval(
            float(row["begin"]),
            float(row["end"]),
            RowFigures(partial(_figures, row.string, block)),
            part=f"{row['id']} {row['role']}" if row["role"] else row["id"],
            is_omitted="(omitted)" in rest,
        )
    )


def _figures(line: str, block: Block) -> list[Figure | None]:
    row = _ROW.match(line)
    return (
        [
            amount("transferred_bytes", row["amount"], row["amount_unit"]),
            rate(prefix_of(row) + "throughput_bps", row["rate"], row["rate_unit"]),
            *extras(row["rest"], block, is_summary=False),
        ]
        if row
        else []
    )
