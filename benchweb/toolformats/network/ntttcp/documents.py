"""ntttcp's XML, of Windows and of Linux, and Linux' JSON: parameters, threads, and behind them the totals.

Its "mbps" are Windows' own on Windows and 2^20 bits on Linux, so that the rate is taken from bytes, or MB of 2^20.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from benchweb.toolformats.json_values import items, mapping, text
from benchweb.toolformats.network.ntttcp.ends import (
    NO_SUMMARY,
    PrintingEnd,
    add_totals,
    binary_rate,
    busy_share,
    megabytes,
    new_reading,
    rate_metric,
)
from benchweb.toolformats.numbers import figure, plain, power_of_ten
from benchweb.toolformats.readings import Figure, Lines, Reading

_BEGIN = re.compile(r"^<ntttcp(?P<end>[sr])(?P<attributes>(?: [^<>]{0,400})?)>")
_VERSION = re.compile(r'version="(?P<version>[^"]{1,40})"')
_ELEMENT = re.compile(
    r'<(?P<close>/?)(?P<name>\w{1,60})(?: (?:metric|index)="(?P<mark>[^"]{1,40})")?[^<>]{0,400}>(?P<text>[^<]{0,400})'
)
_ROLES = {"s": "sender", "r": "receiver"}
_SECTIONS = {"parameters", "thread"}
# Behind its version, which is that of Windows' format.
_LINUX = "linux"
_LONGEST = 50_000


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test whose root stands at `start`."""
    begin = _BEGIN.match(lines[start].strip())
    if not begin:
        return None
    reading, end, totals = new_reading(), PrintingEnd(_ROLES[begin["end"]]), dict[str, str]()
    if version := _VERSION.search(begin["attributes"]):
        reading.version = version["version"]
    stop, is_whole = _end_of(lines, start, f"</ntttcp{begin['end']}>")
    for section, name, value in _elements(lines[start:stop]):
        if section == "parameters":
            _take_parameter(name, value, reading, end)
        elif section:
            _take_thread(section, name, value, reading)
        else:
            totals.setdefault(name, value)
    if not is_whole:
        reading.error = NO_SUMMARY
    _add_totals(reading, end, totals)
    reading.lines = Lines(start + 1, stop)
    return reading, stop


def recognises(document: Mapping[str, object]) -> bool:
    """Whether a document is what ntttcp-for-linux writes by -j."""
    return any(isinstance(document.get(f"ntttcp{end}"), dict) for end in _ROLES)


def read_json(document: Mapping[str, object]) -> Reading:
    """Return the one end that a document tells of."""
    letter = next(end for end in _ROLES if isinstance(document.get(f"ntttcp{end}"), dict))
    body, reading, end = mapping(document[f"ntttcp{letter}"]), new_reading(), PrintingEnd(_ROLES[letter])
    reading.version = text(body.get("-version"))
    for name, value in mapping(body.get("parameters")).items():
        _take_parameter(name, text(value), reading, end)
    for thread in map(mapping, items(body.get("thread"))):
        for name, value in _marked("throughput", thread.get("throughput")):
            _take_thread(text(thread.get("-index")), name, value, reading)
    _add_totals(reading, end, dict(pair for name, value in body.items() for pair in _marked(name, value)))
    return reading


def _marked(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield a member's name with its unit, as in XML, and its text; each of a list."""
    if isinstance(value, list):
        for each in value:
            yield from _marked(name, each)
    elif isinstance(value, dict):
        yield f"{name} {text(value.get('-metric'))}".strip(), text(value.get("#text"))
    else:
        yield name, text(value)


def _end_of(lines: Sequence[str], start: int, closing: str) -> tuple[int, bool]:
    """Return the line behind the document's last one, and whether it was closed."""
    index = start
    while index < min(len(lines), start + _LONGEST):
        line = lines[index].strip()
        if closing in line:
            return index + 1, True
        if index > start and (_BEGIN.match(line) or (line and not line.startswith("<"))):
            break
        index += 1
    return index, False


def _elements(lines: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each element's section (a thread by its number), its name with its unit, and its text."""
    section = ""
    for line in lines:
        for element in _ELEMENT.finditer(line):
            name, mark, value = element["name"], element["mark"] or "", element["text"].strip()
            if name in _SECTIONS:
                section = "" if element["close"] else mark or name
            elif value and not element["close"]:
                yield section, f"{name} {mark}".strip(), value


def _take_parameter(name: str, value: str, reading: Reading, end: PrintingEnd) -> None:
    if name == "udp":
        end.is_udp = value == "True"
    elif _LINUX in reading.version and value.isdecimal() and int(value):
        # Seconds; in which unit Windows writes them isn't told.
        if name == "run_time":
            end.asked_seconds = float(value)
        elif name == "warmup_time":
            reading.parameters["warmup_seconds"] = int(value)


def _take_thread(thread: str, name: str, value: str, reading: Reading) -> None:
    if name == "throughput KB/s":
        rate = binary_rate("throughput_bps", value, "K", thread)
        # A thread whose time is nothing has a rate of nothing beside bytes of the whole.
        reading.add(rate if rate and rate.value else None)


def _add_totals(reading: Reading, end: PrintingEnd, totals: dict[str, str]) -> None:
    reading.note("duration_seconds", plain(totals.get("realtime s", "")))
    add_totals(reading, end, megabytes(end, totals.get("total_bytes MB", "")), _rate(end, totals))
    reading.add(figure("host_retransmits", totals.get("packets_retransmitted", ""), "segments"))
    reading.add(figure("errors", totals.get("errors", ""), "errors"))
    if rtt := totals.get("tcp_average_rtt us"):
        reading.add(figure("rtt_seconds", rtt, "s", times=power_of_ten(-6), printed=f"{rtt} us"))
    if _LINUX not in reading.version:
        _add_windows_totals(reading, end, totals)


def _add_windows_totals(reading: Reading, end: PrintingEnd, totals: dict[str, str]) -> None:
    """Add what Linux leaves at 0, or means otherwise: its CPU is that of its own threads, of one CPU."""
    reading.add(figure("host_sent_packets", totals.get("packets_sent", ""), "pkt"))
    reading.add(figure("host_received_packets", totals.get("packets_received", ""), "pkt"))
    reading.add(busy_share(end, totals.get("cpu %", "")))
    size = totals.get("bufferLen", "")
    if end.role == "sender" and size.isdecimal() and int(size):
        reading.parameters["message_size_bytes"] = int(size)


def _rate(end: PrintingEnd, totals: dict[str, str]) -> Figure | None:
    if value := totals.get("throughput Bps"):
        return figure(rate_metric(end), value, "bit/s", times=8, printed=f"{value} Bps")
    return binary_rate(rate_metric(end), totals.get("throughput MB/s", ""), "M")
