"""ntttcp-for-linux's text: a log with a time before each line; its rates are decimal (util.c, format_throughput)."""

import re
from collections.abc import Sequence

from benchweb.toolformats.network.ntttcp.ends import (
    PrintingEnd,
    add_totals,
    busy_share_by_idle,
    new_reading,
    rate_metric,
    take_command,
    total_bytes,
)
from benchweb.toolformats.numbers import NUMBER, decimal_prefix, figure, plain, power_of_ten
from benchweb.toolformats.readings import Figure, Lines, Reading

_HEAD = re.compile(r"^NTTTCP for Linux (?P<version>\S+)")
_LOG = re.compile(r"^\d\d:\d\d:\d\d (?P<level>INFO|ERR |DBG ) ?: ?(?P<says>.*)$")
_BEGINS = ("Network activity progressing", "Starting sender activity")
# Where what stands before them was left out.
_TOTALS = ("#####  Totals:  #####", "test duration")
_VALUE = re.compile(
    rf"^(?P<name>test duration|total bytes|throughput|retrans segs|idle|tcpi rtt)\s*:\s*(?P<value>{NUMBER})\s?"
    r"(?P<unit>seconds|[KMG]?bps|us|%)?$"
)
_THREAD = re.compile(rf"^(?P<thread>\d{{1,4}})\s+{NUMBER}\s+(?P<rate>{NUMBER})(?P<prefix>[KMG]?)bps$")
_CONNECTIONS = re.compile(r"^(\d{1,6}) connections (?:tested|created)\b")
_INTERRUPTED = "Test was interrupted"
# With -V, before the log begins.
_FLAG = re.compile(r"^(?P<name>[a-z][a-z -]{2,40}(?: \([a-z]+\))?):\s+(?P<value>\S.*)$")
_ROLE = re.compile(r"^\*\*\* (?P<role>sender|receiver) role$")
_OTHERS = re.compile(r"^(?:-{5,}$|Real-time throughput: |\*\*\* )")
_LONGEST = 5_000


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test whose banner, begin or totals stand at `start`."""
    first = lines[start].strip()
    log = _LOG.match(first)
    if not (_HEAD.match(first) or (log and log["says"].strip().startswith((*_BEGINS, *_TOTALS)))):
        return None
    reading, end, values = new_reading(), PrintingEnd(), dict[str, str]()
    last = start
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if _is_next(line, values, is_first=index == start):
            break
        if line and not _take(line, reading, end, values):
            break
        last = index if line else last
    take_command(lines, start, reading, end)
    _add_values(reading, end, values)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _is_next(line: str, values: dict[str, str], *, is_first: bool) -> bool:
    """Whether another test begins: a receiver goes on to the next by itself."""
    log = _LOG.match(line)
    is_begin = bool(log and log["says"].strip().startswith(_BEGINS))
    return not is_first and bool(_HEAD.match(line) or ("throughput" in values and is_begin))


def _take(line: str, reading: Reading, end: PrintingEnd, values: dict[str, str]) -> bool:
    """Take a line; return False for what is none of ntttcp's."""
    if head := _HEAD.match(line):
        reading.version = head["version"]
    elif log := _LOG.match(line):
        _take_log(log["level"], log["says"].strip(), reading, end, values)
    elif role := _ROLE.match(line):
        end.role = role["role"]
    elif not values and (flag := _FLAG.match(line)):
        _take_flag(flag["name"], flag["value"], reading, end)
    else:
        return bool(_OTHERS.match(line))
    return True


def _take_log(level: str, says: str, reading: Reading, end: PrintingEnd, values: dict[str, str]) -> None:
    if level == "ERR " or says.startswith(_INTERRUPTED):
        reading.error = reading.error or says
    elif value := _VALUE.match(says):
        values.setdefault(value["name"], value["value"])
        values.setdefault(f"unit of {value['name']}", value["unit"] or "")
    elif thread := _THREAD.match(says):
        reading.add(_rate("throughput_bps", thread["rate"], thread["prefix"], thread["thread"]))
    elif connections := _CONNECTIONS.match(says):
        # Only senders count them.
        end.role = "sender"
        reading.parameters["flows"] = int(connections[1])


def _take_flag(name: str, value: str, reading: Reading, end: PrintingEnd) -> None:
    if name == "protocol":
        end.is_udp = value == "UDP"
    elif name == "server address":
        reading.parameters["peer"] = value
    elif name == "test duration (sec)" and value.isdecimal():
        end.asked_seconds = float(value)
    elif name == "test warm-up (sec)" and value.isdecimal():
        reading.parameters["warmup_seconds"] = int(value)


def _add_values(reading: Reading, end: PrintingEnd, values: dict[str, str]) -> None:
    reading.note("duration_seconds", plain(values.get("test duration", "")))
    amount = total_bytes(end, values["total bytes"]) if "total bytes" in values else None
    unit = values.get("unit of throughput", "")
    rate = _rate(rate_metric(end), values["throughput"], unit.removesuffix("bps")) if unit.endswith("bps") else None
    add_totals(reading, end, amount, rate)
    reading.add(figure("host_retransmits", values.get("retrans segs", ""), "segments"))
    reading.add(busy_share_by_idle(end, values.get("idle", "")))
    if rtt := values.get("tcpi rtt"):
        reading.add(figure("rtt_seconds", rtt, "s", times=power_of_ten(-6), printed=f"{rtt} us"))


def _rate(metric: str, text: str, prefix: str, part: str = "") -> Figure | None:
    return figure(metric, text, "bit/s", times=decimal_prefix(prefix), part=part, printed=f"{text}{prefix}bps")
