"""perftest's text (ib_write_bw, ib_send_lat and their like): a row for each size of a message.

MB and MiB are 2^20 bytes, Gb 10^9 bits; of writes and sends the latency is half of the round trip, of reads and atomics
all of it (perftest_parameters.c). A peak of 0.00 was not looked for.
"""

import re
from collections.abc import Sequence

from benchweb.toolformats.numbers import NUMBER, binary_prefix, figure, percentile_name, plain, power_of_ten
from benchweb.toolformats.readings import Figure, Lines, Reading

_TITLE = re.compile(
    r"^(?P<verb>RDMA_Write|RDMA_Read|Send|Atomic)(?P<words>(?: \w+){0,5} (?:BW|Latency)(?: \w+){0,3}) Test$"
)
_VERBS = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send", "Atomic": "atomic"}
_COMMAND = re.compile(r"(?:^|[\s#$;/])(?P<test>ib_(?:write|read|send|atomic)_(?:bw|lat))(?=\s|$)(?P<options>.{0,400})$")
# A round trip both ways is printed as such, else half of it.
_WHOLE_TRIPS = ("ib_read_", "ib_atomic_")
_SETTINGS = (
    (re.compile(r"\bNumber of qps\s*:\s*(\d+)"), "flows"),
    (re.compile(r"\bConnection type\s*:\s*(\w+)"), "connection_type"),
    (re.compile(r"\bLink type\s*:\s*(\w+)"), "link_type"),
    (re.compile(r"\bMtu\s*:\s*(\d+)\[B\]"), "mtu_bytes"),
)
_HEAD = re.compile(r"^#bytes\s+(?:#sl\s+)?#iterations\s")
_COLUMN = re.compile(
    r"#bytes|#sl|#iterations|(?:BW|MsgRate) ?(?:peak|average|Port\d)?\[\w+/?\w*\]|t_\w+\[usec\]"
    r"|[\d.]+% percentile\[usec\]|tps average|CPU_Util\[%\]"
)
_ROW = re.compile(rf"^{NUMBER}(?:\s+{NUMBER}){{2,12}}$")
_BANDWIDTH = re.compile(r"^BW ?(?P<which>peak|average)\[(?P<unit>MB|MiB|Gb)/sec\]$")
_TIME = re.compile(r"^(?:t_(?P<name>min|max|typical|avg|stdev)|(?P<percent>[\d.]+)% percentile)\[usec\]$")
_NAMES = {"min": "min", "max": "max", "typical": "p50", "avg": "mean", "stdev": "stddev"}
_RULE = re.compile(r"^-{5,}$")
_CLOCK = "Conflicting CPU frequency values detected"
_FAULT = re.compile(
    r"^(?P<what>Couldn't (?:connect|listen|initialize).*|Unable to init the socket connection.*|Failed status \d+.*"
    r"|Completion with error at.*|.{0,40}Failed to .*)$"
)
TRIP_UNTOLD = "Nothing tells which test this is: a time is half of the round trip, or all of it; add title or command."
_LONGEST_HEAD, _LONGEST = 80, 400


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return a reading for each size of the test whose title or table stands at `start`."""
    first = lines[start].strip()
    title = _TITLE.match(first)
    if not title and not _HEAD.match(first):
        return None
    head = Reading("perftest", _named(title) if title else _test_before(lines, start))
    readings, columns, last = list[Reading](), tuple[str, ...](), start
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if index > start and (_TITLE.match(line) or (readings and _HEAD.match(line))):
            break
        if _HEAD.match(line):
            columns = tuple(_COLUMN.findall(line))
        elif columns and _ROW.match(line):
            readings.append(_row(head, dict(zip(columns, line.split(), strict=False))))
        elif fault := _FAULT.match(line):
            head.error = head.error or fault["what"]
        elif (columns and line and not _is_between(line)) or index - start > _LONGEST_HEAD + len(readings):
            break
        else:
            _take_settings(line, head)
        last = index if line else last
        if readings and _RULE.match(line):
            break
    return _finished(head, readings, Lines(start + 1, last + 1)), last + 1


def _named(title: re.Match[str]) -> str:
    """Name a test as its program, and one of both directions as such: its rate is their sum."""
    words = title["words"].split()
    what = "bw" if "BW" in words else "lat"
    return f"ib_{_VERBS[title['verb']]}_{what}{'_both' if 'Bidirectional' in words else ''}"


def _test_before(lines: Sequence[str], start: int) -> str:
    """Return the program whose command stands just before a table without its title; nothing where none does."""
    before = reversed(lines[max(0, start - 4) : start])
    return next((found["test"] for line in before if (found := _COMMAND.search(line.strip()))), "")


def _is_between(line: str) -> bool:
    return line.startswith(_CLOCK) or bool(_RULE.match(line))


def _take_settings(line: str, head: Reading) -> None:
    if line.startswith(_CLOCK) and not head.remarks:
        head.remarks.append(line)
    for pattern, name in _SETTINGS:
        if found := pattern.search(line):
            head.parameters[name] = int(found[1]) if found[1].isdecimal() else found[1]


def _row(head: Reading, row: dict[str, str]) -> Reading:
    reading = Reading(head.tool, head.test)
    if (size := plain(row["#bytes"])) is not None:
        reading.parameters["message_size_bytes"] = int(size)
    for column, text in row.items():
        reading.add(_figure(column, text, head.test))
    return reading


def _figure(column: str, text: str, test: str) -> Figure | None:
    if bandwidth := _BANDWIDTH.match(column):
        times = power_of_ten(9) if bandwidth["unit"] == "Gb" else 8 * binary_prefix("M")
        metric = "throughput_bps" if bandwidth["which"] == "average" else "peak_throughput_bps"
        rate = figure(metric, text, "bit/s", times=times, printed=f"{text} {bandwidth['unit']}/sec")
        return rate if rate and (rate.value or metric == "throughput_bps") else None
    if column == "MsgRate[Mpps]":
        return figure("messages_per_second", text, "messages/s", times=power_of_ten(6), printed=f"{text} Mpps")
    if (time := _TIME.match(column)) and test:
        trip = "latency" if test.startswith(_WHOLE_TRIPS) else "half_round_trip"
        name = _NAMES[time["name"]] if time["name"] else percentile_name(time["percent"])
        return figure(f"{trip}_{name}_seconds", text, "s", times=power_of_ten(-6), printed=f"{text} usec")
    return None


def _finished(head: Reading, readings: list[Reading], lines: Lines) -> list[Reading]:
    """Return the rows with what the head tells of all; the head alone where no row has a figure."""
    whole = [reading for reading in readings if reading.figures]
    if readings and not whole:
        head.error = head.error or TRIP_UNTOLD
    elif not whole:
        head.error = head.error or "The test has no summary: it was cut off."
    for reading in whole or [head]:
        reading.lines = lines
        reading.parameters = {**head.parameters, **reading.parameters}
        reading.error, reading.remarks = head.error, list(head.remarks)
    return whole or [head]
