"""sar's interface table (`sar -n DEV`) as text and as `sadf -j`: an interface is a reading, its rows are intervals.

Units: kB are 1,024 bytes (sar's manual, -n DEV).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache, partial

from benchweb.toolformats.json_values import items, mapping, number, text
from benchweb.toolformats.numbers import NUMBER, exact, figure, power_of_ten
from benchweb.toolformats.readings import LONGEST_HEAD, Figure, Interval, Lines, Reading, RowFigures

_TIME = r"(?P<time>\d\d:\d\d:\d\d(?: [AP]M)?|Average:|平均时间:|Summary:)"
_HEAD = re.compile(rf"^#?\s*(?:{_TIME}\s+)?IFACE\s+(?P<columns>rxpck/s.*)$")
_ROW = re.compile(rf"^{_TIME}\s+(?P<interface>[^\s,;()\[\]]+)\s+(?P<values>{NUMBER}(?:\s+{NUMBER}){{5,8}})\s*$")
_SYSTEM = re.compile(r"^Linux (?P<kernel>\S+) \((?P<host>[^)]+)\)\s+(?P<date>\S+)")
_USUAL = ("rxpck/s", "txpck/s", "rxkB/s", "txkB/s", "rxcmp/s", "txcmp/s", "rxmcst/s", "%ifutil")
# Of sar -n DEV with and without %ifutil.
_USUAL_COUNTS = (7, 8)
# CPUs, disks and totals of other tables, which a table without a head may be of.
_NO_INTERFACE = re.compile(
    r"^(?:all|IFACE|[\d.]+|dev\d+-\d+|[shv]d[a-z]+\d*|xvd[a-z]\d*|nvme\d+n\d+\S*|dm-\d+|loop\d+)$"
)
_OTHER_HEAD = re.compile(rf"^#?\s*{_TIME}\s+(?:[%A-Za-z][^\s,;()]*\s+)+[%A-Za-z][^\s,;()]*$")
_TIMED = re.compile(rf"^{_TIME}\s")
_KIBI = Decimal(1024)
_METRICS: Mapping[str, tuple[str, str, Decimal]] = {
    "rxpck/s": ("nic_rx_packets_per_second", "pkt/s", Decimal(1)),
    "txpck/s": ("nic_tx_packets_per_second", "pkt/s", Decimal(1)),
    "rxkB/s": ("nic_rx_bytes_per_second", "B/s", _KIBI),
    "txkB/s": ("nic_tx_bytes_per_second", "B/s", _KIBI),
    "rxbyt/s": ("nic_rx_bytes_per_second", "B/s", Decimal(1)),
    "txbyt/s": ("nic_tx_bytes_per_second", "B/s", Decimal(1)),
    "rxcmp/s": ("nic_rx_compressed_packets_per_second", "pkt/s", Decimal(1)),
    "txcmp/s": ("nic_tx_compressed_packets_per_second", "pkt/s", Decimal(1)),
    "rxmcst/s": ("nic_rx_multicast_packets_per_second", "pkt/s", Decimal(1)),
    "%ifutil": ("nic_use_ratio", "ratio", power_of_ten(-2)),
}
_UNITS = {metric: unit for metric, unit, _ in _METRICS.values()}
_JSON_KEYS = {
    "rxpck": "rxpck/s",
    "txpck": "txpck/s",
    "rxkB": "rxkB/s",
    "txkB": "txkB/s",
    "rxcmp": "rxcmp/s",
    "txcmp": "txcmp/s",
    "rxmcst": "rxmcst/s",
    "ifutil-percent": "%ifutil",
}
# An average further from the rows' own mean than this share is said.
_AVERAGE_DIFFERS = 0.02
_MOST_BLANKS = 2
_MONTH_FIRST = ("%m/%d/%Y", "%m/%d/%y")
_DATES = ("%Y-%m-%d", *_MONTH_FIRST, "%d/%m/%Y", "%d/%m/%y")


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return a reading for each interface of the table that begins at `start`."""
    line = lines[start].strip()
    if not (_SYSTEM.match(line) or _HEAD.match(line) or _ROW.match(line)):
        return None
    readings: dict[str, Reading] = {}
    columns: Sequence[str] = ()
    host, blanks, index, last, is_other = "", 0, start, start, False
    day = ""
    while index < len(lines):
        line = lines[index].strip()
        if system := _SYSTEM.match(line):
            if index > start:
                break
            day = system["date"]
            host = f"Host {system['host']}, Linux {system['kernel']}, {system['date']}."
        elif head := _HEAD.match(line):
            columns, is_other = head["columns"].split(), False
        elif _OTHER_HEAD.match(line):
            # Another table of sar's: its rows are none of interfaces.
            is_other = True
        elif (row := _ROW.match(line)) and not is_other and _fits(row, columns):
            _take(readings, row, columns)
        elif is_other and not readings and index - start > LONGEST_HEAD:
            return None
        elif line and not (is_other and _TIMED.match(line)):
            break
        blanks = 0 if line else blanks + 1
        if line:
            last = index
        elif blanks > _MOST_BLANKS:
            break
        index += 1
    for reading in readings.values():
        _finish(reading, host, has_columns=bool(columns))
        reading.began_at = _began(day, reading)
        reading.lines = Lines(start + 1, last + 1)
    return (list(readings.values()), last + 1) if readings or (last - start > LONGEST_HEAD and not is_other) else None


def _fits(row: re.Match[str], columns: Sequence[str]) -> bool:
    """Whether a row belongs to the table: as many values as its head has, or, without a head, an interface's."""
    count = len(row["values"].split())
    if columns:
        return count == len(columns)
    return count in _USUAL_COUNTS and not _NO_INTERFACE.match(row["interface"])


def _began(day: str, reading: Reading) -> datetime | None:
    """Return when the first row was printed; a date in short is known only where it can't be read otherwise."""
    at = next((interval.at for interval in reading.intervals if interval.at), "")
    moments = {moment for form in _DATES if (moment := _moment_by(form, f"{day} {at}"))}
    if len(moments) > 1 and at.endswith("M"):
        # Where halves of a day are printed, the month stands first.
        moments = {moment for form in _MONTH_FIRST if (moment := _moment_by(form, f"{day} {at}"))}
    if len(moments) > 1:
        reading.remarks.append(f"The date {day} may have its day or its month first: it isn't known.")
        return None
    return next(iter(moments), None)


def _moment_by(form: str, text: str) -> datetime | None:
    for clock in ("%H:%M:%S", "%I:%M:%S %p"):
        try:
            return datetime.strptime(text, f"{form} {clock}").replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _finish(reading: Reading, host: str, *, has_columns: bool) -> None:
    if host:
        reading.remarks.append(host)
    if not has_columns:
        reading.remarks.append("The columns' heads are missing: taken as those of `sar -n DEV`.")
    _check_average(reading)


def _take(readings: dict[str, Reading], row: re.Match[str], columns: Sequence[str]) -> None:
    interface, values = row["interface"], row["values"]
    names = columns or _USUAL
    reading = readings.setdefault(interface, Reading(tool="sar", test="DEV", parameters={"interface": interface}))
    figures = RowFigures(partial(_figures, names, values))
    if row["time"][0].isdigit():
        part = str(reading.parameters["interface"])
        reading.intervals.append(Interval(None, None, figures, part=part, at=row["time"]))
    else:
        reading.figures.extend(figures)


def _figures(columns: Sequence[str], texts: str) -> Iterator[Figure | None]:
    return (_figure(column, printed) for column, printed in zip(columns, texts.split(), strict=False))


# Half of the columns say 0.00 all day.
@lru_cache(maxsize=1024)
def _figure(column: str, text: str) -> Figure | None:
    if column not in _METRICS:
        return None
    metric, unit, times = _METRICS[column]
    return figure(metric, text, unit, times=times)


@dataclass
class _Column:
    """What the rows of one metric say together."""

    total: float = 0.0
    count: int = 0
    digits: int = 99

    @property
    def mean(self) -> float:
        return self.total / self.count


def _columns(rows: Iterable[Iterable[Figure]]) -> dict[str, _Column]:
    columns: dict[str, _Column] = defaultdict(_Column)
    for row in rows:
        for each in row:
            column = columns[each.metric]
            column.total += each.value
            column.count += 1
            column.digits = min(column.digits, each.digits)
    return columns


def _check_average(reading: Reading) -> None:
    """Say where the average isn't that of the rows, and that there is none where it was left out."""
    columns = _columns(interval.figures for interval in reading.intervals)
    if not reading.figures:
        _add_means(reading, columns)
        return
    for average in reading.figures:
        column = columns.get(average.metric)
        if column is None or column.count < 2:
            continue
        if abs(column.mean - average.value) > _AVERAGE_DIFFERS * max(abs(column.mean), abs(average.value), 1.0):
            rows = f"{column.mean:,.2f} {average.unit}"
            reading.remarks.append(f"Average {average.text} of {average.metric} isn't the mean of its rows ({rows}).")


def _add_means(reading: Reading, columns: Mapping[str, _Column]) -> None:
    """Take the mean of the rows, where no average was printed."""
    for metric, column in columns.items():
        text = f"mean of {column.count} rows"
        reading.figures.append(Figure(metric, column.mean, _UNITS[metric], column.digits, text, is_derived=True))
    if columns:
        reading.remarks.append("The table has no Average line: the mean of its rows is taken.")


def recognises(document: Mapping[str, object]) -> bool:
    return "sysstat" in document


def read_json(document: Mapping[str, object]) -> list[Reading]:
    """Return a reading for each interface of `sadf -j … -- -n DEV`; of sadf's rows the mean is taken."""
    readings: dict[str, Reading] = {}
    for host in items(mapping(document.get("sysstat")).get("hosts")):
        name = text(mapping(host).get("nodename"))
        for statistic in items(mapping(host).get("statistics")):
            stamp = mapping(mapping(statistic).get("timestamp"))
            at = f"{text(stamp.get('date'))} {text(stamp.get('time'))}".strip()
            for device in items(mapping(mapping(statistic).get("network")).get("net-dev")):
                _take_device(readings, mapping(device), at, name)
    for reading in readings.values():
        _add_means(reading, _columns(interval.figures for interval in reading.intervals))
    return list(readings.values())


def _take_device(readings: dict[str, Reading], device: Mapping[str, object], at: str, host: str) -> None:
    interface = text(device.get("iface"))
    reading = readings.setdefault(
        interface,
        Reading(tool="sar", test="DEV", parameters={"interface": interface, "host": host}, began_at=_moment(at)),
    )
    figures = []
    for key, column in _JSON_KEYS.items():
        value = number(device.get(key))
        if value is not None and exact(repr(value)) is not None:
            figures.append(_figure(column, repr(value)))
    reading.intervals.append(Interval(None, None, tuple(figure for figure in figures if figure), part=interface, at=at))


def _moment(at: str) -> datetime | None:
    for form in ("%Y-%m-%d %H:%M:%S", "%Y/%m/%d %H:%M:%S"):
        try:
            return datetime.strptime(at, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
