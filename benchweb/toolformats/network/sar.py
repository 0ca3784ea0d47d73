"""sar's interface table (`sar -n DEV`) as text and as `sadf -j`: an interface is a reading, its rows are intervals.

Units: kB are 1,024 bytes (sar's manual, -n DEV).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from statistics import fmean

from benchweb.toolformats.json_values import items, mapping, number, text
from benchweb.toolformats.numbers import NUMBER, exact, figure, power_of_ten
from benchweb.toolformats.readings import Figure, Interval, Lines, Reading

_TIME = r"(?P<time>\d\d:\d\d:\d\d(?: [AP]M)?|Average:|平均时间:|Summary:)"
_HEAD = re.compile(rf"^#?\s*(?:{_TIME}\s+)?IFACE\s+(?P<columns>rxpck/s.*)$")
_ROW = re.compile(rf"^{_TIME}\s+(?P<interface>[^\s,;()\[\]]+)\s+(?P<values>{NUMBER}(?:\s+{NUMBER}){{5,8}})\s*$")
_SYSTEM = re.compile(r"^Linux (?P<kernel>\S+) \((?P<host>[^)]+)\)\s+(?P<date>\S+)")
_USUAL = ("rxpck/s", "txpck/s", "rxkB/s", "txkB/s", "rxcmp/s", "txcmp/s", "rxmcst/s", "%ifutil")
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


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return a reading for each interface of the table that begins at `start`."""
    line = lines[start].strip()
    if not (_SYSTEM.match(line) or _HEAD.match(line) or _ROW.match(line)):
        return None
    readings: dict[str, Reading] = {}
    columns: Sequence[str] = ()
    host, blanks, index, last = "", 0, start, start
    while index < len(lines):
        line = lines[index].strip()
        if system := _SYSTEM.match(line):
            if readings:
                break
            host = f"Host {system['host']}, Linux {system['kernel']}, {system['date']}."
        elif head := _HEAD.match(line):
            columns = head["columns"].split()
        elif (row := _ROW.match(line)) and row["interface"] != "IFACE":
            _take(readings, row, columns)
        elif line:
            break
        blanks = 0 if line else blanks + 1
        if line:
            last = index
        elif blanks > _MOST_BLANKS:
            break
        index += 1
    for reading in readings.values():
        _finish(reading, host, has_columns=bool(columns))
        reading.lines = Lines(start + 1, last + 1)
    return (list(readings.values()), last + 1) if readings else None


def _finish(reading: Reading, host: str, *, has_columns: bool) -> None:
    if host:
        reading.remarks.append(host)
    if not has_columns:
        reading.remarks.append("The columns' heads are missing: taken as those of `sar -n DEV`.")
    _check_average(reading)


def _take(readings: dict[str, Reading], row: re.Match[str], columns: Sequence[str]) -> None:
    interface, values = row["interface"], row["values"].split()
    names = columns if len(columns) == len(values) else _USUAL[: len(values)]
    reading = readings.setdefault(interface, Reading(tool="sar", test="DEV", parameters={"interface": interface}))
    figures = [_figure(name, text) for name, text in zip(names, values, strict=False)]
    present = tuple(figure for figure in figures if figure)
    if row["time"][0].isdigit():
        reading.intervals.append(Interval(None, None, present, part=interface, at=row["time"]))
    else:
        reading.figures.extend(present)


def _figure(column: str, text: str) -> Figure | None:
    if column not in _METRICS:
        return None
    metric, unit, times = _METRICS[column]
    return figure(metric, text, unit, times=times)


def _check_average(reading: Reading) -> None:
    """Say where the average isn't that of the rows, and that there is none where it was left out."""
    if not reading.figures:
        _add_means(reading)
        return
    for average in reading.figures:
        values = [
            figure.value
            for interval in reading.intervals
            for figure in interval.figures
            if figure.metric == average.metric
        ]
        if len(values) < 2:
            continue
        mean = sum(values) / len(values)
        if abs(mean - average.value) > _AVERAGE_DIFFERS * max(abs(mean), abs(average.value), 1.0):
            rows = f"{mean:,.2f} {average.unit}"
            reading.remarks.append(f"Average {average.text} of {average.metric} isn't the mean of its rows ({rows}).")


def _add_means(reading: Reading) -> None:
    """Take the mean of the rows, where no average was printed."""
    by_metric: dict[str, list[Figure]] = {}
    for each in (row for interval in reading.intervals for row in interval.figures):
        by_metric.setdefault(each.metric, []).append(each)
    for metric, rows in by_metric.items():
        mean, digits = fmean(each.value for each in rows), min(each.digits for each in rows)
        reading.figures.append(Figure(metric, mean, rows[0].unit, digits, f"mean of {len(rows)} rows", is_derived=True))
    if by_metric:
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
        _add_means(reading)
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
