"""ntttcp's text on Windows: tables of threads and totals, which older versions print as one wide row (ntttcp.c)."""

import re
from collections.abc import Sequence

from benchweb.toolformats.network.ntttcp.ends import (
    PrintingEnd,
    add_totals,
    binary_rate,
    busy_share,
    megabytes,
    new_reading,
    rate_metric,
    take_command,
)
from benchweb.toolformats.numbers import NUMBER, exact, figure, plain
from benchweb.toolformats.readings import Lines, Reading

_BANNER = re.compile(r"^Copyright Version (?P<version>\d+\.\d+)$")
_BEGIN = re.compile(
    r"^(?:Network activity progressing\.\.\.|#####  Totals:  #####|Thread\s+Time\(s\)\s+Throughput\(KB/s\))"
)
_COLUMN = re.compile(
    r"Bytes\(MEG\)|realtime\(s\)|Avg Frame Size|Throughput\([KM]B/s\)|Throughput\(Buffers/s\)|Cycles/Byte|Buffers"
    r"|DPCs\(count/s\)|Pkts\(num/(?:DPC|intr)\)|Intr\(count/s\)|Packets (?:Sent|Received)|Retransmits|Errors"
    r"|Avg\. CPU %|Thread|Time\(s\)|Avg B / Compl|Avg|Min|Max"
)
_ROW = re.compile(rf"^{NUMBER}(?:\s+{NUMBER}){{2,20}}$")
_OTHERS = re.compile(r"^(?:[= ]{5,}$|Latency\(ns\)$|NOTE::?|WARNING:)")
_ERROR = re.compile(r"^ERROR\b:?\s*(?P<what>\S.*)$", re.IGNORECASE)
_AMOUNT = "Bytes(MEG)"
_FIRST_WORDS = ("Copyright Version", "Network activity", "#####", "Thread", _AMOUNT)
_LONGEST = 2_000


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test whose banner, begin or first table stands at `start`."""
    first = lines[start].strip()
    # Looked for first, for nearly every line of a text begins by none.
    if not first.startswith(_FIRST_WORDS):
        return None
    if not (_BANNER.match(first) or _BEGIN.match(first) or (first.startswith(_AMOUNT) and _columns(first))):
        return None
    reading, end, values, columns = new_reading(), PrintingEnd(), dict[str, str](), tuple[str, ...]()
    last = start
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if index > start and (_BANNER.match(line) or (values and line.startswith("Network activity"))):
            break
        if found := _columns(line):
            if values.keys() & set(found):
                break
            columns = found
        elif columns and _ROW.match(line):
            _take_row(dict(zip(columns, line.split(), strict=False)), reading, values)
        elif line and not _take(line, reading):
            break
        last = index if line else last
    take_command(lines, start, reading, end)
    _add_values(reading, end, values)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _columns(line: str) -> tuple[str, ...]:
    """Return the heads of a table; none where the line has anything else."""
    return tuple(_COLUMN.findall(line)) if line and not _COLUMN.sub("", line).strip() else ()


def _take(line: str, reading: Reading) -> bool:
    """Take a line that is no table's; return False for what is none of ntttcp's."""
    if banner := _BANNER.match(line):
        reading.version = banner["version"]
    elif error := _ERROR.match(line):
        reading.error = reading.error or error["what"]
    else:
        return bool(_BEGIN.match(line) or _OTHERS.match(line))
    return True


def _take_row(row: dict[str, str], reading: Reading, values: dict[str, str]) -> None:
    """Take a row: of a thread its rate, which is of nothing where its time is; else of the totals."""
    if "Thread" not in row:
        values.update({name: text for name, text in row.items() if name not in values})
    elif (exact(row.get("Time(s)", "")) or 0) > 0:
        reading.add(binary_rate("throughput_bps", row.get("Throughput(KB/s)", ""), "K", row["Thread"]))
    if "Thread" in row:
        reading.parameters["flows"] = int(reading.parameters.get("flows", 0)) + 1


def _add_values(reading: Reading, end: PrintingEnd, values: dict[str, str]) -> None:
    reading.note("duration_seconds", plain(values.get("realtime(s)", "")))
    amount = megabytes(end, values.get(_AMOUNT, ""))
    add_totals(reading, end, amount, binary_rate(rate_metric(end), values.get("Throughput(MB/s)", ""), "M"))
    for metric, column, unit in _COUNTS:
        reading.add(figure(metric, values.get(column, ""), unit))
    reading.add(busy_share(end, values.get("Avg. CPU %", "")))
    buffers = exact(values.get("Buffers", ""))
    if end.role == "sender" and amount and buffers and buffers > 0:
        reading.parameters["message_size_bytes"] = round(amount.value / float(buffers))


_COUNTS = (
    ("host_sent_packets", "Packets Sent", "pkt"),
    ("host_received_packets", "Packets Received", "pkt"),
    ("host_retransmits", "Retransmits", "segments"),
    ("errors", "Errors", "errors"),
)
