"""uperf's text, with or without `-R` and `-a`: its summary by host, its interfaces, and the course of transactions.

Bytes go by 1,024, bits by 1,000, as raw counts of `-R` beside them show. What a profile does isn't printed, so that a
test is known by its profile's name alone.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from benchweb.toolformats.numbers import NUMBER, binary_prefix, decimal_prefix, figure, plain
from benchweb.toolformats.readings import Figure, Interval, Lines, Reading

_BEGIN = re.compile(r"^Starting (?P<flows>\d+) (?:threads|processes)\b.* running profile:(?P<profile>\S+)")
_AMOUNT = rf"(?P<amount>{NUMBER})(?P<bytes>[KMGT]?B)?"
_RATE = rf"(?P<rate>{NUMBER})(?P<bits>[KMGT]?b/s)?"
_ROW = re.compile(
    rf"^(?P<name>Txn\d+|Total)\s+{_AMOUNT}\s+/\s+(?P<time>{NUMBER})\(s\)\s+=\s+{_RATE}\s+(?P<operations>\d+)op/s"
)
_RAW = re.compile(
    r"^timestamp_ms:(?P<at>\d+(?:\.\d+)?) name:(?P<name>Txn\d+|Total) "
    r"nr_bytes:(?P<bytes>\d+) nr_ops:(?P<operations>\d+)"
)
_HOST = re.compile(
    rf"^(?P<host>\S+)\s+(?P<time>{NUMBER})s\s+{_AMOUNT}\s+{_RATE}\s+(?P<operations>\d+)\s+(?P<errors>{NUMBER})$"
)
_NIC = re.compile(
    rf"^(?P<nic>\S+)\s+(?P<out>\d+)\s+(?P<into>\d+)\s+(?P<sent>{NUMBER})(?P<sent_unit>[KMGT]?b/s)?\s+"
    rf"(?P<received>{NUMBER})(?P<received_unit>[KMGT]?b/s)?$"
)
_TABLE = re.compile(r"^(?:Hostname|Nic)(?= )")
_END = "Difference(%)"
# Between its own lines `-a` prints tables of transactions, groups and threads, and `-v` what it tells its peers.
_MOST_STRANGE = 60
# The first slave's figures are named for the slave, another's for its host: a third row has no name left.
_ROWS_OF_A_HOST = 2


@dataclass(slots=True)
class _State:
    """The table whose rows are read, when each transaction of `-R` began, and the rows of each host."""

    table: str = ""
    begun: dict[str, float] = field(default_factory=dict)
    hosts: Counter[str] = field(default_factory=Counter)


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test that "Starting … running profile:…" begins at `start`."""
    begin = _BEGIN.match(lines[start].strip())
    if not begin:
        return None
    reading = Reading(tool="uperf", test=begin["profile"])
    reading.parameters["flows"] = int(begin["flows"])
    state = _State()
    index = last = start
    while index + 1 < len(lines) and index - last < _MOST_STRANGE:
        index += 1
        line = lines[index].strip()
        if _BEGIN.match(line):
            break
        if _take(line, reading, state):
            last = index
        if line.startswith(_END):
            last = index
            break
    if not reading.figures:
        reading.error = "The test has no summary: it was cut off."
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _take(line: str, reading: Reading, state: _State) -> bool:
    """Take a line; return False for what is none of the test's."""
    if row := _ROW.match(line):
        _row(row, reading)
    elif row := _RAW.match(line):
        _raw(row, reading, state.begun)
    elif table := _TABLE.match(line):
        state.table = table[0]
    elif state.table == "Hostname" and (row := _HOST.match(line)):
        state.hosts[row["host"]] += 1
        if state.hosts[row["host"]] <= _ROWS_OF_A_HOST:
            _host(row, reading)
    elif state.table == "Nic" and (row := _NIC.match(line)):
        _interface(row, reading)
    else:
        state.table = state.table if line.startswith("---") else ""
        return False
    return True


def _interface(row: re.Match[str], reading: Reading) -> None:
    part = row["nic"]
    reading.add(figure("nic_tx_packets_per_second", row["out"], "pkt/s", part=part))
    reading.add(figure("nic_rx_packets_per_second", row["into"], "pkt/s", part=part))
    for metric, text, unit in (
        ("nic_tx_bytes_per_second", row["sent"], row["sent_unit"] or ""),
        ("nic_rx_bytes_per_second", row["received"], row["received_unit"] or ""),
    ):
        times = decimal_prefix(unit.removesuffix("b/s")) / 8
        reading.add(figure(metric, text, "B/s", times=times, part=part, printed=f"{text}{unit}"))


def _row(row: re.Match[str], reading: Reading) -> None:
    figures = [_bytes(row), _rate("throughput_bps", row["rate"], row["bits"]), _operations(row["operations"])]
    present = tuple(each for each in figures if each)
    if row["name"] == "Total":
        reading.figures = [*present, *(each for each in reading.figures if each.part)]
        reading.note("duration_seconds", plain(row["time"]))
    elif (seconds := plain(row["time"])) and seconds > 0:
        reading.intervals.append(Interval(0.0, seconds, present, part=row["name"]))


def _raw(row: re.Match[str], reading: Reading, begun: dict[str, float]) -> None:
    """Keep what was moved since a transaction began; its first row tells when that was."""
    at = float(row["at"]) / 1e3
    if reading.began_at is None and at < 1e11:
        reading.began_at = datetime.fromtimestamp(at, tz=UTC)
    first = begun.setdefault(row["name"], at)
    if row["name"] != "Total" and at > first:
        figures = (
            figure("transferred_bytes", row["bytes"], "B"),
            figure("operations", row["operations"], "operations"),
        )
        reading.intervals.append(Interval(0.0, at - first, tuple(each for each in figures if each), part=row["name"]))


def _host(row: re.Match[str], reading: Reading) -> None:
    """Take a host's share of the summary: the master's is the whole, which `Total` may have told before."""
    is_master = row["host"] == "master"
    part = "" if is_master else "slave"
    if is_master:
        reading.note("duration_seconds", plain(row["time"]))
    elif reading.figure("throughput_bps", part):
        # Of several slaves each by its name.
        part = row["host"]
    else:
        reading.parameters["peer"] = row["host"]
    for each in (
        _bytes(row, part),
        _rate("throughput_bps", row["rate"], row["bits"], part),
        figure("operations", row["operations"], "operations", part=part),
        figure("errors", row["errors"], "errors", part=part),
    ):
        if each and not reading.figure(each.metric, each.part):
            reading.figures.append(each)


def _bytes(row: re.Match[str], part: str = "") -> Figure | None:
    unit = row["bytes"] or "B"
    times = binary_prefix(unit.removesuffix("B"))
    return figure("transferred_bytes", row["amount"], "B", times=times, part=part, printed=f"{row['amount']}{unit}")


def _rate(metric: str, text: str, unit: str | None, part: str = "") -> Figure | None:
    times = decimal_prefix((unit or "").removesuffix("b/s"))
    return figure(metric, text, "bit/s", times=times, part=part, printed=f"{text}{unit or ''}")


def _operations(text: str) -> Figure | None:
    return figure("operations_per_second", text, "operations/s", printed=f"{text}op/s")
