"""Any text, of one tool or with many outputs in prose, read whole: the one way in."""

import re
from collections.abc import Callable, Mapping, Sequence

from benchweb.toolformats import json_values, mode_table, own_table, pkb, report_table
from benchweb.toolformats.complaints import heed_complaints
from benchweb.toolformats.host import fio_json, fio_text, memory
from benchweb.toolformats.known import keep_known
from benchweb.toolformats.network import (
    ab,
    flent,
    hey,
    latency_tools,
    netperf,
    netperf_omni,
    nuttcp,
    nuttcp_verbose,
    path_probes,
    perftest,
    ping,
    sar,
    uperf,
    wrk,
)
from benchweb.toolformats.network.iperf import iperf2, iperf3_json, iperf3_text
from benchweb.toolformats.network.ntttcp import documents as ntttcp_documents
from benchweb.toolformats.network.ntttcp import linux_text as ntttcp_linux
from benchweb.toolformats.network.ntttcp import windows_text as ntttcp_windows
from benchweb.toolformats.own_settings import take_settings
from benchweb.toolformats.plain_text import MAX_INFLATED_BYTES, Patience, lines_of, text_of
from benchweb.toolformats.prefixes import without_prefixes
from benchweb.toolformats.readings import Lines, Reading, ToolDocument, ToolFormatError, Unread
from benchweb.toolformats.unread import LONGEST_LINE, why_unread
from benchweb.toolformats.whole import Whole

Format = Callable[[Sequence[str], int], tuple[Reading | list[Reading], int] | None]
# Tried in this order at each line: what begins by words that no other tool has comes first.
_FORMATS: tuple[Format, ...] = (
    netperf_omni.read,
    netperf.read,
    iperf3_text.read,
    iperf2.read,
    wrk.read,
    ab.read,
    hey.read,
    uperf.read,
    nuttcp.read,
    nuttcp_verbose.read,
    ntttcp_linux.read,
    ntttcp_windows.read,
    ntttcp_documents.read,
    perftest.read,
    ping.read,
    path_probes.read,
    sar.read,
    latency_tools.read,
    fio_text.read,
    memory.read,
    own_table.read,
    report_table.read,
    mode_table.read,
)
_MOST_UNREAD, _LONGEST_QUOTE = 100, 200
# Documents within documents, such as a list of runs with each tool's own answer.
_DEEPEST, _MOST_MEMBERS = 6, 2_000
_MOST_READINGS = 5_000
_LINES_BETWEEN_CHECKS = 32
# A blank line, or a few characters without a digit: shorter than any tool's head, and no document's begin.
_NOTHING = re.compile(r"^\s*+[^\s\d{\[]{0,4}\s*+$")


def read_bytes(content: bytes, patience: Patience | None = None) -> ToolDocument:
    """Return all that a file holds; raise ToolFormatError for what is no text, too large, or a broken gzip."""
    patience = patience or Patience()
    return read_text(text_of(content, patience), patience)


def read_text(text: str, patience: Patience | None = None) -> ToolDocument:
    """Return all that a text holds, in its order: prose is skipped, lines of tools that belong to no test are told."""
    if len(text) > MAX_INFLATED_BYTES:
        raise ToolFormatError(
            f"The text has {len(text):,} characters; at most {MAX_INFLATED_BYTES:,} are read at once."
        )
    patience = patience or Patience()
    lines, moments = without_prefixes(lines_of(text, patience))
    # Megabytes that nobody needs any more.
    del text
    whole = Whole(lines)
    tool_lines = [line if len(line) <= LONGEST_LINE else "" for line in lines]
    readings: list[Reading] = []
    unread: list[Unread] = []
    index = looked_at = 0
    while index < len(lines) and len(readings) < _MOST_READINGS:
        line = lines[index]
        looked_at += 1
        if _NOTHING.match(line):
            index += 1
            if looked_at % _LINES_BETWEEN_CHECKS == 0:
                patience.check()
            continue
        is_json = bool(_JSON.match(line))
        # A document may be long; of lines each is short.
        if is_json or looked_at % _LINES_BETWEEN_CHECKS == 0:
            patience.check()
        found = _json_at(lines, index, whole, patience) if is_json else _text_at(tool_lines, index)
        if found:
            made, end, why = found
            readings += made
        else:
            end, why = index + 1, why_unread(line) if len(unread) < _MOST_UNREAD else ""
        if why and len(unread) < _MOST_UNREAD:
            unread.append(Unread(index + 1, line.strip()[:_LONGEST_QUOTE], why))
        index = max(end, index + 1)
    if index < len(lines) and any(line.strip() for line in lines[index:]):
        unread.append(
            Unread(
                index + 1,
                lines[index].strip()[:_LONGEST_QUOTE],
                f"Only {_MOST_READINGS:,} results of one text are read.",
            )
        )
    take_settings(readings, lines)
    for reading in readings:
        keep_known(reading)
        if moments and reading.began_at is None:
            reading.began_at = moments[reading.lines.first - 1]
    alone = heed_complaints(readings, whole, patience.check)
    told = {line for reading in alone for line in range(reading.lines.first, reading.lines.last + 1)}
    unread = [each for each in unread if each.line not in told]
    readings = sorted([*readings, *alone], key=lambda reading: reading.lines.first)
    begins = next((line.strip() for line in lines if line.strip()), "")[:_LONGEST_QUOTE]
    return ToolDocument(tuple(readings), tuple(unread), begins, text_lines=lines)


# Readings, the index of the line behind them, and what is to be told where there are none.
_Found = tuple[list[Reading], int, str]


def _text_at(lines: Sequence[str], index: int) -> _Found | None:
    for read in _FORMATS:
        found = read(lines, index)
        if found:
            readings, end = found
            return (readings if isinstance(readings, list) else [readings]), end, ""
    return None


def _json_at(lines: Sequence[str], index: int, whole: Whole, patience: Patience) -> _Found | None:
    """Read the JSON document, or the events, one a line, that begin at a line."""
    events, end = _events(lines, index)
    if events:
        return [_placed(iperf3_json.from_events(events), lines, index, end)], end, ""
    opening = _JSON.match(lines[index])
    begin = whole.starts[index] + (opening.start("document") if opening else 0)
    found = json_values.value_at(whole.text, begin)
    if not found:
        why = _CUT_OFF if not whole.is_cut_off and _BEGINS_A_DOCUMENT.match(lines[index]) else ""
        whole.is_cut_off = whole.is_cut_off or bool(why)
        return [], index + 1, why
    value, stop = found
    end = index + whole.text.count("\n", begin, stop) + 1
    readings = [_placed(reading, lines, index, end) for reading in _from_value(value, _DEEPEST, patience, frozenset())]
    return readings, end, "" if readings or whole.is_cut_off else _OTHER_JSON


_CUT_OFF = "A JSON document begins here and doesn't end: it was cut off."
_OTHER_JSON = "This JSON is no result of a tool that is read."
# Ansible names the host before it: `ok: [node-a] => {`.
_JSON = re.compile(r"^(?:[^{}\"]{1,200} => )?\s*+(?P<document>[{\[])\s*+(?:[\"{\[]|$)")
_BEGINS_A_DOCUMENT = re.compile(r"^[{\[]")


def _from_value(value: object, depth: int, patience: Patience, read: frozenset[str]) -> list[Reading]:
    """Return what a document holds, also within lists and documents of other programs, but for the texts in `read`."""
    if depth == 0:
        return []
    if isinstance(value, str):
        return _from_text(_plain_text(value), patience, read)
    if isinstance(value, list):
        if value and all(isinstance(each, dict) and "event" in each for each in value):
            return [iperf3_json.from_events(value)]
        return _from_members(_texts_of_lines(value), depth, patience, read)
    if not isinstance(value, dict):
        return []
    return _from_document(value) or _from_mapping(list(value.values())[:_MOST_MEMBERS], depth, patience, read)


def _from_mapping(members: Sequence[object], depth: int, patience: Patience, read: frozenset[str]) -> list[Reading]:
    """Read the members of a document: what stands there twice, or again within one of them, is one text.

    Two hosts of a list, or two documents beside each other, may have printed the same.
    """
    readings: list[Reading] = []
    texts = [_text_of_member(member) for member in members]
    known = read | set(filter(None, texts))
    for member, text in zip(members, texts, strict=True):
        if text:
            readings += _from_text(text, patience, read)
            read |= {text}
        else:
            readings += _from_value(member, depth - 1, patience, known)
    return readings


def _from_members(members: Sequence[object], depth: int, patience: Patience, read: frozenset[str]) -> list[Reading]:
    return [reading for member in members[:_MOST_MEMBERS] for reading in _from_value(member, depth - 1, patience, read)]


def _texts_of_lines(value: Sequence[object]) -> Sequence[object]:
    """Return a list of single lines as the one text that they are, as Ansible's `stdout_lines`; any other as it is."""
    lines = [each for each in value if isinstance(each, str) and "\n" not in each]
    return ["\n".join(lines)] if value and len(lines) == len(value) else value


def _text_of_member(member: object) -> str:
    """Return the text that a member is, also as a list of its lines; empty for anything else."""
    if isinstance(member, list):
        [member] = texts if len(texts := _texts_of_lines(member)) == 1 else [None]
    return _plain_text(member) if isinstance(member, str) else ""


def _plain_text(text: str) -> str:
    """Return a text without what lines may end with otherwise: a terminal's carriage returns, blanks."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _from_text(text: str, patience: Patience, read: frozenset[str]) -> list[Reading]:
    """Read what a tool printed, where a member holds lines or a document."""
    if text in read or not ("\n" in text or text.startswith(("{", "["))):
        return []
    patience.check()
    return list(read_text(text, patience).readings)


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
    for recognises, read in _DOCUMENTS:
        if recognises(document):
            readings = read(document)
            return readings if isinstance(readings, list) else [readings]
    return []


_DocumentReader = Callable[[Mapping[str, object]], Reading | list[Reading]]
_DOCUMENTS: tuple[tuple[Callable[[Mapping[str, object]], bool], _DocumentReader], ...] = (
    (fio_json.recognises, fio_json.read),
    (sar.recognises, sar.read_json),
    (flent.recognises, flent.read),
    (hey.recognises, hey.read_json),
    (ntttcp_documents.recognises, ntttcp_documents.read_json),
    (iperf3_json.recognises, iperf3_json.read),
    (pkb.recognises, pkb.read),
)


def _placed(reading: Reading, lines: Sequence[str], index: int, end: int) -> Reading:
    reading.lines = Lines(index + 1, end)
    return reading
