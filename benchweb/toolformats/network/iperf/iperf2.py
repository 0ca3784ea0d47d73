"""iperf 2's text and CSV (`-y C`): TCP, UDP with its server's report, several flows with [SUM].

Units as in iperf 2's stdio.c: Bytes by 1,024, bits by 1,000.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from benchweb.toolformats.known import add_sums, percentage_remark
from benchweb.toolformats.numbers import NUMBER, amount, figure, losses, rate
from benchweb.toolformats.readings import LONGEST_HEAD, Figure, Interval, Lines, Reading, RowFigures

_BEGIN = re.compile(
    r"^(?:Client connecting to (?P<peer>\S+), (?P<protocol>TCP|UDP) port"
    r"|Server listening on (?P<listening>TCP|UDP) port)"
)
_LOCAL = re.compile(
    r"^\[\s*(?P<id>\d+)\]\s+local (?P<local>\S+) port \d+ connected with (?P<remote>\S+) port \d+(?P<rest>.*)$"
)
_ROW = re.compile(
    rf"^\[\s*(?P<id>\*?\d+|SUM)(?:-\d+)?\]\s+(?P<begin>\d+\.\d+)-\s*(?P<end>\d+\.\d+)\s+sec\s+(?P<amount>{NUMBER})\s+"
    rf"(?P<amount_unit>[KMGT]?Bytes?)\s+(?P<rate>{NUMBER})\s+(?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)(?P<rest>.*)$"
)
_UDP = re.compile(rf"^\s+(?P<jitter>{NUMBER})\s+ms\s+(?P<lost>-?\d+)\s*/\s*(?P<total>-?\d+)\s+\((?P<percent>[^)]*)\)")
_WINDOW = re.compile(rf"^(?:TCP window size|UDP buffer size):\s+({NUMBER})\s+([KMG]?)Bytes?")
_DATAGRAM = re.compile(r"^(?:Sending|Receiving) (\d+) byte (?:UDP )?datagrams")
_WRITE = re.compile(r"^Write buffer size: (\d+) Byte")
_DATE = re.compile(r" on (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \(UTC\)$")
_FAILED = re.compile(
    r"^(?:\[\s*\d+\] )?(?P<what>(?:tcp |udp )?(?:connect|write\d?|read|bind) failed: .*|WARNING: did not receive.*)$"
)
# A head that others' tests share stands so many lines before at most.
_FARTHEST_HEAD = 300
_KEPT = re.compile(
    r"^(?:-{10,}|Write buffer|Read buffer|TOS set|Event based|CWND|Using |\[ ?ID\]"
    r"|\[\s*\d+\] (?:Sent|Server Report|datagrams|WARNING|sent)"
    r"|\[\s*\d+\] \d+ datagrams|IPG|UDP|TCP|Binding|multicast)",
    re.IGNORECASE,
)
_CSV = re.compile(r"^\d{14}(?:\.\d+)?,[^,]*,\d+,[^,]*,\d+,-?\d+,\d+\.\d+-\d+\.\d+,\d+,\d+(?:,.*)?$")


def read(lines: Sequence[str], start: int) -> tuple[Reading | list[Reading], int] | None:
    """Return the test whose first line, or first row, stands at `start`."""
    line = lines[start].strip()
    if _CSV.match(line):
        return _csv(lines, start)
    if not (_BEGIN.match(line) or _LOCAL.match(line) or (_ROW.match(line) and _is_old(line))):
        return None
    reading = Reading(tool="iperf2", test="TCP", kind="tcp_stream")
    if _LOCAL.match(line) and (head := _head_before(lines, start)):
        _take(head, reading)
    rows: list[str] = []
    index, last = start, start
    while index < len(lines):
        line = lines[index].strip()
        if rows and (_BEGIN.match(line) or (_LOCAL.match(line) and _is_over(rows[-1]))):
            break
        if _ROW.match(line):
            rows.append(line)
        elif not _take(line, reading):
            break
        if line:
            last = index
        index += 1
    if rows:
        _fill(reading, rows)
    elif reading.error and "peer" in reading.parameters:
        reading.kind = "udp_stream" if reading.test == "UDP" else "tcp_stream"
    else:
        return ([], last + 1) if last - start > LONGEST_HEAD else None
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _head_before(lines: Sequence[str], start: int) -> str:
    """Return what a server told once for all of its tests; empty where the lines before are a client's, or none's."""
    for line in reversed(lines[max(0, start - _FARTHEST_HEAD) : start]):
        if begin := _BEGIN.match(line.strip()):
            return line.strip() if begin["listening"] else ""
    return ""


def _is_over(line: str) -> bool:
    """Whether a row is a flow's total, behind which another test may begin."""
    row = _ROW.match(line)
    return bool(
        row and float(row["begin"]) == 0 and float(row["end"]) > 1 and not re.fullmatch(r"\d+\.0{4}", row["end"])
    )


def _is_old(line: str) -> bool:
    """Whether a row is of iperf 2: one decimal or four of seconds, where iperf 3 has two."""
    row = _ROW.match(line)
    return bool(row and not re.fullmatch(r"\d+\.\d\d", row["end"]))


def _take(line: str, reading: Reading) -> bool:
    """Take a line that is no row; return False for what is none of a test."""
    if begin := _BEGIN.match(line):
        reading.test = begin["protocol"] or begin["listening"]
        if begin["peer"]:
            reading.parameters["peer"] = begin["peer"].rstrip(",")
        else:
            reading.parameters["is_server"] = True
    elif local := _LOCAL.match(line):
        own, other = ("sink", "source") if reading.parameters.get("is_server") else ("source", "sink")
        reading.parameters.setdefault(f"{own}_address", local["local"])
        reading.parameters.setdefault(f"{other}_address", local["remote"])
        if "(reverse)" in local["rest"]:
            reading.parameters["direction"] = "reverse"
        if date := _DATE.search(local["rest"]):
            reading.began_at = datetime.fromisoformat(date.group(1)).replace(tzinfo=UTC)
    elif window := _WINDOW.match(line):
        buffer = amount("buffer", window.group(1), f"{window.group(2)}Byte")
        if buffer:
            end = "sink" if reading.parameters.get("is_server") else "source"
            reading.parameters[f"{end}_socket_buffer_bytes"] = int(buffer.value)
    elif failed := _FAILED.match(line):
        reading.error = reading.error or failed["what"]
    elif write := _WRITE.match(line):
        reading.parameters["message_size_bytes"] = int(write.group(1))
    elif datagram := _DATAGRAM.match(line):
        reading.parameters["message_size_bytes"] = int(datagram.group(1))
    else:
        return not line or bool(_KEPT.match(line))
    return True


def _matches(lines: Iterable[str]) -> Iterator[re.Match[str]]:
    """Match rows anew: kept, the matches of a long test would take more than all else."""
    return (row for line in lines if (row := _ROW.match(line)))


def _fill(reading: Reading, rows: Sequence[str]) -> None:
    """Tell intervals from totals: a total begins at 0 and ends with the flow's last row."""
    counts = Counter(row["id"] for row in _matches(rows))
    # iperf 2 adds up the times of both directions.
    ends = [float(row["end"]) for row in _matches(rows) if row["id"] != "SUM" or len(counts) == 1]
    if any(_UDP.match(row["rest"]) for row in _matches(rows)):
        reading.test = "UDP"
    reading.kind = "udp_stream" if reading.test == "UDP" else "tcp_stream"
    reading.parameters["duration_seconds"] = max(ends)
    totals = _totals(reading, rows, counts)
    if not totals:
        reading.error = reading.error or "The test has no summary: it was cut off."
    ids = counts.keys() - {"SUM"}
    # Rows with a star are of what came back; beside others of the same test the sum is of both directions together.
    back = {each for each in ids if each.startswith("*")}
    is_both = bool(back) and back != ids
    if back:
        reading.parameters["direction"] = "bidirectional" if is_both else "reverse"
    if reading.parameters.get("direction") == "reverse":
        _turn(reading)
    reading.parameters["flows"] = max(1, len(ids - back if is_both else ids))
    if not is_both:
        _sides(reading, totals, len(ids))
        return
    _sides(reading, [row for row in totals if row["id"] in ids - back], len(ids - back))
    returned = Reading(tool="iperf2", test=reading.test)
    _sides(returned, [row for row in totals if row["id"] in back], len(back))
    reading.figures += [replace(figure, metric=f"reverse_{figure.metric}") for figure in returned.figures]


def _totals(reading: Reading, rows: Sequence[str], counts: Counter[str]) -> list[re.Match[str]]:
    """Return the totals; the other rows become intervals.

    A flow's last row from the begin to the end is its total: an interval as long may stand before it.
    """
    least = 0.98 * float(reading.parameters["duration_seconds"])
    last = {
        (row["id"], bool(_UDP.match(row["rest"]))): row.string
        for row in _matches(rows)
        if float(row["begin"]) == 0 and float(row["end"]) >= least and not _is_interval(row, counts[row["id"]])
    }
    totals: list[re.Match[str]] = []
    for row in _matches(rows):
        if last.get((row["id"], bool(_UDP.match(row["rest"])))) == row.string:
            totals.append(row)
        else:
            figures = RowFigures(partial(_figures, row.string))
            reading.intervals.append(Interval(float(row["begin"]), float(row["end"]), figures, part=row["id"]))
    return totals


def _sides(reading: Reading, totals: Sequence[re.Match[str]], count: int) -> None:
    """Take the totals of both ends: a UDP client prints what it sent; the server's report is what arrived."""
    for is_report in (False, True):
        _side(reading, [row for row in totals if bool(_UDP.match(row["rest"])) == is_report], count)


def _turn(reading: Reading) -> None:
    """Say source and sink the other way round: the source is the end that sends."""
    for name in ("address", "socket_buffer_bytes"):
        ends = [reading.parameters.pop(f"{end}_{name}", None) for end in ("source", "sink")]
        for end, value in zip(("sink", "source"), ends, strict=True):
            if value is not None:
                reading.parameters[f"{end}_{name}"] = value


def _is_interval(row: re.Match[str], count: int) -> bool:
    """Whether the only row of a flow is its first interval: a whole test never ends at so round a time.

    A test of one interval has its total behind it.
    """
    return count == 1 and bool(re.fullmatch(r"\d+\.0{4}|1\.0", row["end"]))


def _side(reading: Reading, totals: Sequence[re.Match[str]], count: int) -> None:
    """Take the totals of one end: the sum, or the only flow, is the whole; all flows without a sum are added up."""
    if not totals:
        return
    has_sum = any(row["id"] == "SUM" for row in totals)
    flows = list(dict.fromkeys(row["id"] for row in totals if row["id"] != "SUM"))
    for row in totals:
        _total(reading, row, "" if row["id"] == "SUM" or (not has_sum and count < 2) else row["id"])
    if has_sum or count < 2:
        return
    if len(flows) == count:
        add_sums(reading, flows)
    else:
        reading.error = reading.error or (
            f"Rows of {len(flows)} of {count} flows stand here without their sum: the whole isn't known."
        )


def _total(reading: Reading, row: re.Match[str], part: str) -> None:
    is_sent = reading.test == "UDP" and not _UDP.match(row["rest"])
    metric = "send_throughput_bps" if is_sent else "throughput_bps"
    reading.add(rate(metric, row["rate"], row["rate_unit"], part))
    moved = "sent_bytes" if is_sent else "received_bytes"
    reading.add(amount(moved, row["amount"], row["amount_unit"], part))
    for loss in _losses(row, part):
        reading.add(loss)
    if (udp := _UDP.match(row["rest"])) and (
        remark := percentage_remark(udp["percent"], int(udp["lost"]), int(udp["total"]))
    ):
        reading.remarks.append(remark)


def _figures(line: str) -> list[Figure | None]:
    row = _ROW.match(line)
    return (
        [
            rate("throughput_bps", row["rate"], row["rate_unit"]),
            amount("transferred_bytes", row["amount"], row["amount_unit"]),
            *_losses(row, ""),
        ]
        if row
        else []
    )


def _losses(row: re.Match[str], part: str) -> list[Figure]:
    udp = _UDP.match(row["rest"])
    return losses(udp["jitter"], int(udp["lost"]), int(udp["total"]), part) if udp else []


def _csv(lines: Sequence[str], start: int) -> tuple[Reading, int]:
    """Read rows of `-y C`: time, addresses, id, interval, bytes, bits per second; UDP has five more."""
    reading = Reading(tool="iperf2", test="TCP", kind="tcp_stream")
    rows: list[list[str]] = []
    index = start
    while index < len(lines) and _CSV.match(lines[index].strip()):
        rows.append(lines[index].strip().split(","))
        index += 1
    is_udp = any(len(row) >= 13 for row in rows)
    reading.test, reading.kind = ("UDP", "udp_stream") if is_udp else ("TCP", "tcp_stream")
    reading.parameters.update(source_address=rows[0][1], sink_address=rows[0][3])
    reading.parameters["flows"] = max(1, len({row[5] for row in rows} - {"-1"}))
    try:
        # Some versions write the epoch where they took no time.
        moment = datetime.strptime(rows[0][0][:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        reading.began_at = moment if moment.year > 1970 else None
    except ValueError:
        reading.remarks.append(f"{rows[0][0]} is no time of day.")
    longest = max(float(row[6].split("-")[1]) for row in rows)
    reading.parameters["duration_seconds"] = longest
    has_sum = any(row[5] == "-1" for row in rows)
    flows = list(dict.fromkeys(row[5] for row in rows if row[5] != "-1"))
    for row in rows:
        begin, end = (float(text) for text in row[6].split("-"))
        part = "" if row[5] == "-1" or (not has_sum and len(flows) < 2) else row[5]
        figures = [
            figure("throughput_bps", row[8], "bit/s", part=part),
            figure("received_bytes", row[7], "B", part=part),
        ]
        if len(row) >= 13 and row[11].isdigit():
            figures += losses(row[9], int(row[10]), int(row[11]), part)
        present = tuple(figure for figure in figures if figure)
        if begin == 0 and end >= 0.98 * longest:
            reading.figures.extend(present)
        else:
            reading.intervals.append(Interval(begin, end, present, part=row[5]))
    if not has_sum and len(flows) > 1:
        add_sums(reading, flows)
    if not reading.figures:
        reading.error = "The test has no summary: it was cut off."
    reading.lines = Lines(start + 1, index)
    return reading, index
