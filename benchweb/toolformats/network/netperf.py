"""netperf's classic tables (2.4 to 2.7): STREAM, MAERTS, SENDFILE, RR, CRR, the two lines of UDP, `-v 2`, `-P 0`.

Source: netperf's manual, "Using netperf to measure bulk data transfer" and "… request/response performance".
"""

import re
from collections.abc import Sequence

from benchweb.toolformats.network.netperf_rows import RATE_UNIT, Rows, fill, rate_unit
from benchweb.toolformats.numbers import NUMBER, figure, plain, power_of_ten
from benchweb.toolformats.readings import Interval, Lines, Reading

BANNER = re.compile(
    r"^(?:MIGRATED )?(?P<protocol>TCP|UDP|SCTP|DCCP|UDPLITE)(?:IPV[46])? "
    r"(?P<what>STREAM|MAERTS|SENDFILE|UNIDIRECTIONAL SEND"
    r"|REQUEST/RESPONSE|Connect/Request/Response|CONNECT REQUEST/RESPONSE|Connect/Close) TEST(?P<rest>.*)$",
    re.IGNORECASE,
)
_TESTS = {
    "stream": "STREAM",
    "unidirectional send": "STREAM",
    "maerts": "MAERTS",
    "sendfile": "SENDFILE",
    "request/response": "RR",
    "connect/request/response": "CRR",
    "connect request/response": "CRR",
    "connect/close": "CC",
}
_KINDS = {
    "TCP_STREAM": "tcp_stream",
    "TCP_MAERTS": "tcp_stream",
    "TCP_SENDFILE": "tcp_stream",
    "UDP_STREAM": "udp_stream",
    "TCP_RR": "tcp_rr",
    "TCP_CRR": "tcp_crr",
    "UDP_RR": "udp_rr",
}
_ROW = re.compile(rf"^\s*(?:{NUMBER}\s+)*{NUMBER}\s*$")
_HEAD_WORDS = re.compile(
    r"^\s*(?:Recv|Socket|Size|bytes|Local|Send|Messages?|Utilization|Service|%|us/|secs)", re.IGNORECASE
)
_INTERIM = re.compile(
    rf"^Interim result:\s+({NUMBER})\s+(\S+)\s+over\s+({NUMBER})\s+seconds(?: ending at\s+({NUMBER}))?", re.IGNORECASE
)
_COMMAND = re.compile(r"(?:^|[\s#$;])netperf\s+(-.*)$")
_TO = re.compile(r"\bto (\S+)")
_CONFIDENCE = re.compile(r"\+/-\s*([\d.]+)% @ (\d+)% conf")
_NAMED = re.compile(r"-t\s+([A-Z]+_[A-Z]+)")
_DEFAULT_TEST = _NAMED.search("-t TCP_STREAM")
AMBIGUOUS_REQUESTS = "No banner: TCP_RR, TCP_CRR and UDP_RR print such a row alike; add the banner or the command."
# The rest of a banner that a mail has wrapped.
_WRAPPED = re.compile(r"^\s*(?:\(\S*\) )?(?:port \d+ )?AF_INET6?\b|^\s*to \S+.* AF_INET")
_BURST = re.compile(r"first burst (\d+)")
# A table has its rows within so many lines of its banner: heads, interim results and warnings stand between.
_LONGEST_HEAD = 400
_BARE_STREAM = re.compile(r"^\s*\d+\s+\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d\s*$")
_BARE_UDP = re.compile(r"^\s*\d+\s+\d+\s+\d+\.\d\d\s+\d+\s+\d+\s+\d+\.\d\d\s*$")
_BARE_UDP_SECOND = re.compile(r"^\s*\d+\s+\d+\.\d\d\s+\d+\s+\d+\.\d\d\s*$")
_BARE_RR = re.compile(r"^\s*\d+\s+\d+\s+\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d\s*$")
_BARE_NUMBER = re.compile(rf"^\s*{NUMBER}\s*$")
_BARE_SIZES = re.compile(r"^\s*\d+\s+\d+\s*$")


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the table that begins at `start`, by its banner or, with `-P 0`, by its first row."""
    banner = BANNER.match(lines[start].strip())
    if banner:
        return _with_banner(lines, start, banner)
    return _without_banner(lines, start)


def _with_banner(lines: Sequence[str], start: int, banner: re.Match[str]) -> tuple[Reading, int] | None:
    test, _ = test_named(banner)
    reading = _new_reading(test)
    _banner_says(reading, banner["rest"])
    index, unit = start + 1, ""
    rows: Rows = []
    rows_needed = 1 if test.endswith(("STREAM", "MAERTS", "SENDFILE")) and not test.startswith("UDP") else 2
    while index < min(len(lines), start + _LONGEST_HEAD) and len(rows) < rows_needed:
        line = lines[index]
        if BANNER.match(line.strip()):
            break
        if index == start + 1 and _WRAPPED.match(line):
            _banner_says(reading, line)
        elif interim := _INTERIM.match(line.strip()):
            _add_interim(reading, interim)
        elif line.strip().startswith("!!!"):
            _add_warning(reading, line)
        elif _ROW.match(line) and (rows or len(line.split()) > 2):
            rows.append(line.split())
        elif rows and line.strip():
            break
        elif not rows and (found := RATE_UNIT.search(line)):
            unit = found.group(0)
        elif _is_error(line):
            reading.error = line.strip()
            index += 1
            break
        elif line.strip() and not _HEAD_WORDS.match(line) and not _is_head_tail(line):
            break
        index += 1
    if not rows and not reading.error:
        reading.error = "The banner stands without a table: the test was cut off."
    fill(reading, rows, unit)
    index = _verbose(reading, lines, index)
    return _finished(reading, lines, start, index), index


def test_named(banner: re.Match[str]) -> tuple[str, str | None]:
    """Return netperf's name of the test that a banner announces, and the catalog's kind of it."""
    test = f"{banner['protocol'].upper()}_{_TESTS[banner['what'].lower()]}"
    return test, _KINDS.get(test)


def _without_banner(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Read rows of `-P 0`, told apart by their numbers' shape, and `-v 0`'s one number by its command."""
    line, following = lines[start], lines[start + 1] if start + 1 < len(lines) else ""
    test, rows = "", [line.split()]
    if _BARE_STREAM.match(line):
        test = "TCP_STREAM"
    elif _BARE_UDP.match(line) and _BARE_UDP_SECOND.match(following):
        test, rows = "UDP_STREAM", [line.split(), following.split()]
    elif _BARE_RR.match(line):
        test = "RR"
        if _BARE_SIZES.match(following):
            rows.append(following.split())
    elif not _BARE_NUMBER.match(line):
        return None
    options = _options_before(lines, start)
    if not test:
        return _one_number(lines, start, options) if "-v 0" in options else None
    named = _NAMED.search(options)
    if named is None and options and test == "TCP_STREAM":
        # A command without -t is of netperf's own default.
        named = _DEFAULT_TEST
    reading = _new_reading(named.group(1) if named else test)
    if reading.test == "RR":
        reading.error = AMBIGUOUS_REQUESTS
    elif not named:
        reading.remarks.append(f"No banner: read as {test} by the row's shape.")
    fill(reading, rows, _unit_of(options))
    end = start + len(rows)
    return _finished(reading, lines, start, end), end


def _one_number(lines: Sequence[str], start: int, options: str) -> tuple[Reading, int]:
    named = _NAMED.search(options)
    reading = _new_reading(named.group(1) if named else "TCP_STREAM")
    text = lines[start].strip()
    if reading.test.endswith(("RR", "CC")):
        reading.add(figure("transactions_per_second", text, "transactions/s"))
    else:
        reading.add(figure("throughput_bps", text, "bit/s", times=rate_unit(_unit_of(options))))
    return _finished(reading, lines, start, start + 1), start + 1


def _unit_of(options: str) -> str:
    """Return the unit that a command asks for by -f: bits by ten in small letters, bytes by two in capitals."""
    asked = re.search(r"(?:^|\s)-f\s*([gmkGMK])\b", options.partition(" -- ")[0])
    if not asked:
        return ""
    return {"g": "10^9bits/s", "m": "10^6bits/s", "k": "10^3bits/s"}.get(asked[1], f"{asked[1]}bytes/s")


def _options_before(lines: Sequence[str], start: int) -> str:
    """Return the options of the command that stands just before, or nothing."""
    for line in reversed(lines[max(0, start - 4) : start]):
        if command := _COMMAND.search(line):
            return command.group(1)
    return ""


def _new_reading(test: str) -> Reading:
    reading = Reading(tool="netperf", test=test, kind=_KINDS.get(test))
    if test == "TCP_MAERTS":
        reading.parameters["direction"] = "reverse"
    if test == "TCP_SENDFILE":
        reading.parameters["send_mode"] = "sendfile"
    return reading


def _banner_says(reading: Reading, rest: str) -> None:
    if peer := _TO.search(rest):
        reading.parameters["peer"] = peer.group(1)
    if confidence := _CONFIDENCE.search(rest):
        reading.remarks.append(f"Confidence asked for: ±{confidence.group(1)} % at {confidence.group(2)} %.")
    if (burst := _BURST.search(rest)) and burst.group(1) != "0":
        reading.parameters["burst"] = int(burst.group(1))


def _add_interim(reading: Reading, interim: re.Match[str]) -> None:
    rate, unit, seconds, end = interim.groups()
    value = (
        figure("transactions_per_second", rate, "transactions/s", printed=f"{rate} {unit}")
        if unit.lower().startswith("trans")
        else figure("throughput_bps", rate, "bit/s", times=rate_unit(unit), printed=f"{rate} {unit}")
    )
    begin = sum(float(interval.end_seconds or 0) - float(interval.begin_seconds or 0) for interval in reading.intervals)
    if value:
        reading.intervals.append(Interval(begin, begin + (plain(seconds) or 0.0), (value,), at=end or ""))


def _add_warning(reading: Reading, line: str) -> None:
    text = line.strip().strip("!").strip()
    if text and text != "WARNING":
        reading.remarks.append(text)


_ERRORS = re.compile(
    r"^\s*+(?:netperf:|establish control|send_\w+:|recv_\w+:|shutdown_control|catcher:|connect failed|.*: Connection)"
)


def _is_error(line: str) -> bool:
    return bool(_ERRORS.match(line))


def _is_head_tail(line: str) -> bool:
    """Whether a line is one of a head's: words and units, no sentence."""
    return not line.strip() or (bool(re.match(r"^[\sA-Za-z%/^#0-9.,()]+$", line)) and not _ROW.match(line))


_VERBOSE_HEAD = re.compile(r"^\s*Alignment\s+Offset")


def _verbose(reading: Reading, lines: Sequence[str], index: int) -> int:
    """Take what `-v 2` adds: bytes and calls of a stream, the round trip of RR, the segment size."""
    cursor = index
    while cursor < len(lines) and not lines[cursor].strip() and cursor - index < 2:
        cursor += 1
    if cursor >= len(lines) or not _VERBOSE_HEAD.match(lines[cursor]):
        return index
    head = " ".join(lines[cursor : cursor + 3])
    for following in range(cursor + 1, min(cursor + 6, len(lines))):
        row = lines[following].split()
        if _ROW.match(lines[following]) and len(row) >= 7:
            if "RoundTrip" in head:
                reading.add(figure("latency_mean_seconds", row[4], "s", times=power_of_ten(-6), printed=f"{row[4]} us"))
            else:
                reading.add(figure("received_bytes", row[4], "B"))
            index = following + 1
            break
    for following in range(index, min(index + 6, len(lines))):
        if re.fullmatch(r"\s*-?\d+\s*", lines[following]) and "bytes" in lines[following - 1].lower():
            if int(lines[following]) > 0:
                reading.parameters["maximum_segment_bytes"] = int(lines[following])
            return following + 1
    return index


def _finished(reading: Reading, lines: Sequence[str], start: int, end: int) -> Reading:
    last = end
    while last > start + 1 and not lines[last - 1].strip():
        last -= 1
    reading.lines = Lines(start + 1, last)
    return reading
