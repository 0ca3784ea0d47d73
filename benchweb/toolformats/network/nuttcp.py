"""nuttcp's brief text and `-fparse`, with or without its intervals.

By its source (nuttcp-8.2.2.c): MB are 2^20 bytes and Mbps 10^6 bit/s, both of the receiver; "pkt" is what was sent;
%TX and %RX are what sender and receiver took of one CPU; the RTT is that of connecting, and its jitter a plain mean of
differences, so that neither is what other tools call so.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from benchweb.toolformats.commands import options_above
from benchweb.toolformats.known import percentage_remark, rate_remark
from benchweb.toolformats.numbers import (
    NUMBER,
    binary_prefix,
    decimal_prefix,
    exact,
    figure,
    losses,
    plain,
    power_of_ten,
)
from benchweb.toolformats.readings import Figure, Interval, Lines, Reading, RowFigures

_NAMED = r"^(?:\S{1,41}: +)?"
_ROW = re.compile(
    rf"{_NAMED}(?P<amount>{NUMBER}) MB / +(?P<seconds>{NUMBER}) sec = +(?P<rate>{NUMBER}) Mbps(?P<rest>(?: .*)?)$"
)
_PARSED = re.compile(
    rf"{_NAMED}megabytes=(?P<amount>{NUMBER}) real_sec(?:onds)?=(?P<seconds>{NUMBER}) rate_Mbps=(?P<rate>{NUMBER})"
    r"(?P<rest>(?: .*)?)$"
)
# What follows a rate, by the name that -fparse has for it.
_LONGEST_REST = 400
_RESTS = tuple(
    (re.compile(pattern), names)
    for pattern, names in (
        (r"(\d+) %TX\b", ("tx_cpu",)),
        (r"(\d+) %RX\b", ("rx_cpu",)),
        (r"(-?\d+) / +(-?\d+) ~?drop/pkt\b", ("drop", "pkt")),
        (rf"({NUMBER}) ~?%loss\b", ("data_loss",)),
        (r"(\d+)(?: = [\d+]+)? retrans\b", ("retrans",)),
        (r"(\d+) host-retrans\b", ("host-retrans",)),
        (r"(\d+)(?: = [\d+]+)? KB-cwnd\b", ("cwnd",)),
        (rf"({NUMBER}) msRTT\b", ("rtt_ms",)),
        (rf"Trans: +({NUMBER}) MB", ("tx_megabytes",)),
        *((rf"({NUMBER}) ms{each}{what}\b", (f"ms{each.lower()}{what if what == 'OWD' else 'jitter'}",))
          for each in ("Min", "Avg", "Max") for what in ("Jitter", "OWD")),
    )
)  # fmt: skip
_PAIR = re.compile(r"([\w-]{1,40})=(\S{1,40})")
_INTERRUPTED = "*** transfer interrupted ***"
FAULT = re.compile(r"^nuttcp(?:-[tr]\S{0,41})?: (?:v[\d.]+\S{0,20}: )?(?P<what>Error: .+)$")
# What -v isn't needed for.
_SAYS = re.compile(r"^nuttcp-[tr].*\b(?:Info|Warning|Error|Debug)\b")
_COMMAND = re.compile(r"(?:^|[\s#$;/])nuttcp\s+(?P<options>-.{0,400}|[\w.:-]{1,255}(?:\s*[|<>;&].{0,400})?)$")
_LONGEST = 20_000
# So many datagrams tell their size by the bytes of all, which are rounded to 100.
_FEWEST_OF_A_SIZE, _ROUNDED_BYTES = 200, 105


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test whose summary, or first interval, stands at `start`."""
    first = lines[start].strip()
    # Looked for first, for nearly every line of a text has none.
    if "Mbps" not in first and first != _INTERRUPTED:
        return None
    if not (row_of(first) or first == _INTERRUPTED):
        return None
    reading = Reading(tool="nuttcp", test="TCP", kind="tcp_stream")
    last, is_whole = start, False
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        row = row_of(line)
        if row:
            is_whole = _take(row, reading)
        elif line and not _take_trouble(line, reading):
            break
        last = index if line else last
        if is_whole:
            break
    if not is_whole:
        reading.error = reading.error or "The test has no summary: it was cut off."
    _take_command(lines, start, reading)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def row_of(line: str) -> re.Match[str] | None:
    """Return a row of an interval or of the whole test, as text or by -fparse."""
    return _ROW.match(line) or _PARSED.match(line)


def _take_trouble(line: str, reading: Reading) -> bool:
    """Take what nuttcp says between its rows; return False for what is none of its lines."""
    if line == _INTERRUPTED:
        reading.error = reading.error or line.strip("* ")
    elif fault := FAULT.match(line):
        reading.error = fault["what"]
    return line == _INTERRUPTED or bool(_SAYS.match(line))


def _take(row: re.Match[str], reading: Reading) -> bool:
    """Take a row; return whether it sums up the test: it alone tells of CPUs."""
    rest = _rest(row)
    if "drop" in rest or "data_loss" in rest:
        reading.kind, reading.test = "udp_stream", "UDP"
    is_whole = "tx_cpu" in rest or "rx_cpu" in rest
    if is_whole:
        reading.figures = list(RowFigures(partial(_figures, row.string)))
        reading.note("duration_seconds", plain(row["seconds"]))
        _judge(row, rest, reading)
    else:
        reading.intervals.append(interval(row, reading))
    return is_whole


def interval(row: re.Match[str], reading: Reading) -> Interval:
    """Return a row as the interval behind those that a reading has."""
    begin = (reading.intervals[-1].end_seconds or 0.0) if reading.intervals else 0.0
    return Interval(begin, begin + (plain(row["seconds"]) or 0.0), RowFigures(partial(_figures, row.string)))


def _figures(line: str) -> list[Figure | None]:
    row = row_of(line)
    return [*_amounts(row), *_counts(_rest(row))] if row else []


def _rest(row: re.Match[str]) -> Mapping[str, str]:
    """Return what follows the rate, by the names of -fparse."""
    if row.re is _PARSED:
        return dict(_PAIR.findall(row["rest"]))
    found: dict[str, str] = {}
    rest = row["rest"][:_LONGEST_REST]
    for pattern, names in _RESTS:
        if match := pattern.search(rest):
            found |= zip(names, match.groups(), strict=True)
    return found


def _amounts(row: re.Match[str]) -> list[Figure | None]:
    amount, rate = row["amount"], row["rate"]
    return [
        figure("received_bytes", amount, "B", times=binary_prefix("M"), printed=f"{amount} MB"),
        figure("throughput_bps", rate, "bit/s", times=decimal_prefix("M"), printed=f"{rate} Mbps"),
    ]


def _counts(rest: Mapping[str, str]) -> list[Figure | None]:
    """Return losses, retransmits, CPUs and times; a congestion window is one of an interval."""
    figures: list[Figure | None] = [
        _number("retransmits", rest.get("retrans"), "segments"),
        _number("host_retransmits", rest.get("host-retrans"), "segments"),
        _number("source_cpu_ratio", rest.get("tx_cpu"), "ratio", -2, "%"),
        _number("sink_cpu_ratio", rest.get("rx_cpu"), "ratio", -2, "%"),
        _number("connect_seconds", rest.get("rtt_ms"), "s", -3, " ms"),
        *(_number(f"jitter_{name}_seconds", rest.get(f"ms{key}jitter"), "s", -3, " ms") for key, name in _STATISTICS),
        *(_number(f"one_way_{name}_seconds", rest.get(f"ms{key}OWD"), "s", -3, " ms") for key, name in _STATISTICS),
    ]
    if sent := rest.get("tx_megabytes"):
        figures.append(figure("sent_bytes", sent, "B", times=binary_prefix("M"), printed=f"{sent} MB"))
    if (window := rest.get("cwnd")) and "tx_cpu" not in rest:
        figures.append(figure("congestion_window_bytes", window, "B", times=1024, printed=f"{window} KB"))
    lost, sent_packets = (exact(rest.get(name, "")) for name in ("drop", "pkt"))
    if lost is not None and sent_packets is not None:
        figures += losses("", int(lost), int(sent_packets))
        figures.append(_number("sent_packets", rest["pkt"], "pkt"))
    return figures


_STATISTICS = (("min", "min"), ("avg", "mean"), ("max", "max"))


def _number(metric: str, text: str | None, unit: str, exponent: int = 0, printed_unit: str = "") -> Figure | None:
    return figure(metric, text, unit, times=power_of_ten(exponent), printed=f"{text}{printed_unit}") if text else None


def _judge(row: re.Match[str], rest: Mapping[str, str], reading: Reading) -> None:
    """Remark figures that deny each other, and note the size that datagrams must have had."""
    lost, sent = reading.value("lost_packets"), reading.value("total_packets")
    remarks = [rate_remark(reading.figure("throughput_bps"), reading.figure("received_bytes"), plain(row["seconds"]))]
    if lost is not None and sent is not None:
        remarks.append(percentage_remark(rest.get("data_loss", ""), int(lost), int(sent)))
        _note_size(reading, sent - lost)
    reading.remarks += filter(None, remarks)


def _note_size(reading: Reading, arrived: float) -> None:
    """Note a datagram's size where the bytes of all that arrived leave one only."""
    received = reading.value("received_bytes")
    if received and arrived >= _FEWEST_OF_A_SIZE:
        size = received / arrived
        if abs(size - round(size)) <= _ROUNDED_BYTES / arrived:
            reading.parameters["message_size_bytes"] = round(size)


def _take_command(lines: Sequence[str], start: int, reading: Reading) -> None:
    """Take what the summary doesn't tell from the command that stands just before, if one does."""
    options = options_above(lines, start, _COMMAND)
    last = options.rpartition(" ")[2]
    if last and not last.startswith("-") and not last.isdecimal():
        reading.parameters["peer"] = last
    if re.search(r"(?:^|\s)-u(?=\s|$)", options):
        reading.kind, reading.test = "udp_stream", "UDP"
    if re.search(r"(?:^|\s)-r(?=\s|$)", options):
        reading.parameters["direction"] = "reverse"
    for name, letter in (("flows", "N"), ("message_size_bytes", "l")):
        if value := re.search(rf"(?:^|\s)-{letter} ?(\d{{1,9}})(k?)(?=\s|$)", options):
            reading.parameters[name] = int(value[1]) * (1024 if value[2] else 1)
    if limit := _LIMIT.search(options):
        reading.parameters["rate_bps"] = int((exact(limit[1]) or 0) * decimal_prefix(limit[2] or "k"))


# Kbps unless another unit stands behind; packets per second are no rate of bits.
_LIMIT = re.compile(rf"(?:^|\s)-R(?:is?)? ?({NUMBER})([kKmMgG]?)(?:/\d+)?(?=\s|$)")
