"""Tables of two columns, what was measured and its number, as reports in Markdown or HTML print them.

Only rows with a unit in brackets are read, and only of tables under a head "Item | Value" (or 项目 | 值): of prose and
settings nothing is made up. A row "4k randread depth 32 - latency (us)" belongs to the group before its dash.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from benchweb.toolformats.host.littles_law import contradiction
from benchweb.toolformats.numbers import NUMBER, figure, power_of_ten
from benchweb.toolformats.readings import Figure, Lines, Reading

_HEAD = re.compile(
    r"^\|?\s*(?:项目|指标|测试项|Item|Metric|Test)\s*\|\s*(?:值|结果|数值|Value|Result)\s*+(?:\|\s*+)?$", re.IGNORECASE
)
_RULE = re.compile(r"^\|?\s*:?-{2,}")
_ROW = re.compile(rf"^\|?(?P<label>[^|]+)\|\s*(?P<value>{NUMBER})\s*+(?:\|\s*+)?$")
_UNIT = re.compile(r"[（(](?P<unit>[^()（）]+)[)）]\s*$")
_DEPTH = re.compile(r"(?:深度|depth|iodepth=|qd)\s*(\d+)", re.IGNORECASE)
_UNITS: dict[str, tuple[str, Decimal]] = {
    "mib/s": ("B/s", Decimal(1024**2)),
    "mb/s": ("B/s", power_of_ten(6)),
    "kb/s": ("B/s", Decimal(1024)),
    "kib/s": ("B/s", Decimal(1024)),
    "us": ("s", power_of_ten(-6)),
    "µs": ("s", power_of_ten(-6)),
    "ms": ("s", power_of_ten(-3)),
    "次数/s": ("operations/s", Decimal(1)),
    "iops": ("operations/s", Decimal(1)),
    "mbits/sec": ("bit/s", power_of_ten(6)),
    "mbit/s": ("bit/s", power_of_ten(6)),
    "gbits/sec": ("bit/s", power_of_ten(9)),
    "gbit/s": ("bit/s", power_of_ten(9)),
    "packets/s": ("pkt/s", Decimal(1)),
    "pps": ("pkt/s", Decimal(1)),
    "百分比": ("ratio", power_of_ten(-2)),
    "%": ("ratio", power_of_ten(-2)),
}
# What a label ends with when its group isn't set off by a dash: words of the figure, not of what was tested.
_FIGURE_WORDS = re.compile(
    r"(?<!\s)\s*+(?:传输带宽|传输丢包率|接收带宽|包收发速度|(?:最小|平均|最大)延时|延时标准偏差|丢包率)$"
)
_TOOLS = (
    ("mbw", re.compile(r"\bmbw\b", re.IGNORECASE)),
    ("stream", re.compile(r"\bstream\b|^(?:Copy|Scale|Add|Triad)\b", re.IGNORECASE)),
    ("ping", re.compile(r"\bping\b", re.IGNORECASE)),
    ("fio", re.compile(r"随机[读写]|顺序[读写]|混合读写|IOPS|rand(?:read|write|rw)", re.IGNORECASE)),
    ("netperf", re.compile(r"TCP|UDP|长连接|短连接", re.IGNORECASE)),
)
# STREAM's rate has no unit in such tables: its own is MB/s.
_WITHOUT_UNIT = {"stream": ("B/s", power_of_ten(6)), "ping": ("s", power_of_ten(-3))}


@dataclass(frozen=True, slots=True)
class _Line:
    tool: str
    group: str
    figure: Figure
    number: int


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return a reading for each group of rows of the table whose head stands at `start`."""
    if not _HEAD.match(lines[start].strip()):
        return None
    rows: list[_Line] = []
    index = start + 1
    while index < len(lines):
        line = lines[index].strip()
        if _RULE.match(line):
            index += 1
            continue
        if "|" not in line:
            break
        if (row := _ROW.match(line)) and (read_row := _line(row["label"].strip(), row["value"], index + 1)):
            rows.append(read_row)
        index += 1
    if not rows:
        return None
    return _grouped(rows, lines), index


def _line(label: str, value: str, number: int) -> _Line | None:
    tool = next((name for name, pattern in _TOOLS if pattern.search(label)), "")
    unit = _UNIT.search(label)
    known = _UNITS.get(unit["unit"].strip().lower()) if unit else None
    if not tool or not (known or tool in _WITHOUT_UNIT):
        return None
    si_unit, times = known or _WITHOUT_UNIT[tool]
    bare = label[: unit.start()].strip() if unit else label
    group, _, what = bare.replace("UDP UDP", "UDP").partition(" - ")
    printed = f"{value} {unit['unit'] if unit else ''}".strip()
    amount = figure(
        _metric(tool, bare, si_unit), value, si_unit, times=times, part=what.strip() if what else "", printed=printed
    )
    if amount is None:
        return None
    named = replace(amount, label=label)
    return _Line(tool, group.strip() if what else _FIGURE_WORDS.sub("", group), named, number)


_PING_FIGURES = (("最小", "min"), ("平均", "mean"), ("最大", "max"), ("偏差", "mdev"), ("min", "min"), ("max", "max"))
# The metric by unit, where the tool's labels don't say more.
_BY_UNIT = {"ratio": "loss_ratio", "operations/s": "iops", "pkt/s": "packets_per_second", "s": "latency_mean_seconds"}


def _metric(tool: str, label: str, unit: str) -> str:
    """Return the metric that a row's label and unit name."""
    lowered = label.lower()
    if unit == "s" and tool == "ping":
        return f"latency_{next((name for word, name in _PING_FIGURES if word in lowered), 'mean')}_seconds"
    if unit == "bit/s":
        is_received = "接收" in label or "receiv" in lowered or "tcp" in lowered
        return "throughput_bps" if is_received else "send_throughput_bps"
    if unit == "B/s":
        return "memory_bytes_per_second" if tool in {"mbw", "stream"} else "bytes_per_second"
    return _BY_UNIT[unit]


def _grouped(rows: Sequence[_Line], lines: Sequence[str]) -> list[Reading]:
    readings: dict[tuple[str, str], Reading] = {}
    for row in rows:
        reading = readings.setdefault((row.tool, row.group), Reading(tool=row.tool, test=row.group))
        reading.figures.append(row.figure)
        first = reading.lines.first or row.number
        reading.lines = Lines(first, row.number)
        if depth := _DEPTH.search(row.group):
            reading.parameters["depth"] = int(depth.group(1))
        if size := re.match(r"^(\d+)([kKmM]?)B?\b", row.group):
            times = {"": 1, "k": 1024, "m": 1024**2}[size.group(2).lower()]
            reading.parameters["block_size_bytes" if row.tool == "fio" else "message_size_bytes"] = (
                int(size.group(1)) * times
            )
    for reading in readings.values():
        reading.remarks.append("Read from a report's table, not from the tool's own output.")
        _check(reading)
    return list(readings.values())


def _check(reading: Reading) -> None:
    """Say where a disk's rows break Little's law; of mixed rows reads and writes are in flight together."""
    depth = reading.parameters.get("depth")
    if reading.tool != "fio" or not isinstance(depth, int):
        return
    rates = [figure.value for figure in reading.figures if figure.metric == "iops"]
    latencies = [figure.value for figure in reading.figures if figure.metric == "latency_mean_seconds"]
    if len(rates) != len(latencies) or not rates:
        return
    pairs = zip(_ordered(reading, "iops"), _ordered(reading, "latency_mean_seconds"), strict=True)
    in_flight = sum(rate * latency for rate, latency in pairs)
    if sum(rates) and (sentence := contradiction(sum(rates), in_flight / sum(rates), depth)):
        reading.remarks.append(sentence)


def _ordered(reading: Reading, metric: str) -> list[float]:
    """Return the figures of a metric, reads before writes."""
    of_metric = [figure for figure in reading.figures if figure.metric == metric]
    return [
        figure.value
        for figure in sorted(of_metric, key=lambda figure: "写" in figure.part or "write" in figure.part.lower())
    ]
