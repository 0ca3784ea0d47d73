"""Any text, of one tool or with many outputs in prose, read whole: the one way in."""

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from benchweb.toolformats import json_values, own_table, report_table
from benchweb.toolformats.host import fio_json, fio_text, memory
from benchweb.toolformats.network import (
    flent,
    latency_tools,
    netperf,
    netperf_omni,
    ping,
    sar,
    uperf,
    wrk,
)
from benchweb.toolformats.network.iperf import iperf2, iperf3_json, iperf3_text
from benchweb.toolformats.plain_text import MAX_INFLATED_BYTES, Patience, lines_of, text_of
from benchweb.toolformats.readings import Lines, Reading, ToolDocument, ToolFormatError, Unread

Format = Callable[[Sequence[str], int], tuple[Reading | list[Reading], int] | None]
# Tried in this order at each line: what begins by words that no other tool has comes first.
_FORMATS: tuple[Format, ...] = (
    netperf_omni.read,
    netperf.read,
    iperf3_text.read,
    iperf2.read,
    wrk.read,
    uperf.read,
    ping.read,
    sar.read,
    latency_tools.read,
    fio_text.read,
    memory.read,
    own_table.read,
    report_table.read,
)
# A line that only a tool prints, in a place where none of its tests begins.
_TOOL_LIKE = re.compile(
    r"^\s*+(?:\[\s*(?:\d+|SUM)\]\s+\d|MIGRATED |OMNI |Requests/sec|Transfer/sec|rtt min/|round-trip min/"
    r"|\d+ packets transmitted|AVG\s+Method:|(?:Copy|Scale|Add|Triad):\s+\d|sockperf: |\d+ requests in "
    r"|.*: \(groupid=)"
)
_MOST_UNREAD = 100
# More than the heads of all that netperf can tell; of JSON, a whole document may stand in a line.
_LONGEST_LINE = 8_192
_MOST_READINGS = 5_000


class _Whole:
    """All lines as one text, and where each begins: joined once, however many documents there are, and if there are."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def text(self) -> str:
        return "\n".join(self._lines)

    @cached_property
    def starts(self) -> Sequence[int]:
        return array("L", accumulate((len(line) + 1 for line in self._lines), initial=0))


def read_bytes(content: bytes, patience: Patience | None = None) -> ToolDocument:
    """Return all that a file holds; raise ToolFormatError for what is no text, too large, or a broken gzip."""
    return read_text(text_of(content), patience)


def read_text(text: str, patience: Patience | None = None) -> ToolDocument:
    """Return all that a text holds, in its order: prose is skipped, lines of tools that belong to no test are told."""
    if len(text) > MAX_INFLATED_BYTES:
        raise ToolFormatError(
            f"The text has {len(text):,} characters; at most {MAX_INFLATED_BYTES:,} are read at once."
        )
    patience = patience or Patience()
    lines = lines_of(text, patience)
    # Megabytes that nobody needs any more.
    del text
    whole = _Whole(lines)
    tool_lines = [line if len(line) <= _LONGEST_LINE else "" for line in lines]
    readings: list[Reading] = []
    unread: list[Unread] = []
    index = 0
    while index < len(lines) and len(readings) < _MOST_READINGS:
        line = lines[index]
        if not line.strip():
            index += 1
            continue
        patience.check()
        found = _json_at(lines, index, whole) if line.lstrip().startswith("{") else _text_at(tool_lines, index)
        if found:
            readings += found[0]
            index = max(found[1], index + 1)
            continue
        if (why := _why_unread(line)) and len(unread) < _MOST_UNREAD:
            unread.append(Unread(index + 1, line.strip()[:200], why))
        index += 1
    if index < len(lines) and any(line.strip() for line in lines[index:]):
        unread.append(
            Unread(index + 1, lines[index].strip()[:200], f"Only {_MOST_READINGS:,} results of one text are read.")
        )
    return ToolDocument(tuple(readings), tuple(unread), lines)


def _why_unread(line: str) -> str:
    """Return what is to be told of a line that belongs to no test; empty for prose."""
    if len(line) > _LONGEST_LINE:
        return f"The line has over {_LONGEST_LINE:,} characters: no tool's has."
    return "No test begins here that this line belongs to." if _TOOL_LIKE.match(line) else ""


def _text_at(lines: Sequence[str], index: int) -> tuple[list[Reading], int] | None:
    for read in _FORMATS:
        found = read(lines, index)
        if found:
            readings, end = found
            return (readings if isinstance(readings, list) else [readings]), end
    return None


def _json_at(lines: Sequence[str], index: int, whole: _Whole) -> tuple[list[Reading], int] | None:
    """Read the JSON document, or the events, one a line, that begin at a line."""
    events, end = _events(lines, index)
    if events:
        return [_placed(iperf3_json.from_events(events), lines, index, end)], end
    begin = whole.starts[index] + len(lines[index]) - len(lines[index].lstrip())
    found = json_values.document_at(whole.text, begin)
    if not found:
        return None
    document, stop = found
    end = index + whole.text.count("\n", begin, stop) + 1
    readings = [_placed(reading, lines, index, end) for reading in _from_document(document)]
    return (readings, end) if readings else None


def _events(lines: Sequence[str], index: int) -> tuple[list[Mapping[str, object]], int]:
    events: list[Mapping[str, object]] = []
    while index < len(lines) and '"event"' in lines[index][:40]:
        found = json_values.document_at(lines[index], len(lines[index]) - len(lines[index].lstrip()))
        if not found or "event" not in found[0]:
            break
        events.append(found[0])
        index += 1
    return events, index


def _from_document(document: Mapping[str, object]) -> list[Reading]:
    if fio_json.recognises(document):
        return fio_json.read(document)
    if sar.recognises(document):
        return sar.read_json(document)
    if flent.recognises(document):
        return [flent.read(document)]
    if iperf3_json.recognises(document):
        return [iperf3_json.read(document)]
    return []


def _placed(reading: Reading, lines: Sequence[str], index: int, end: int) -> Reading:
    reading.lines = Lines(index + 1, end)
    return reading
