"""Tables of network modes, "from ↓ to →", as reports print them: a result for each cell that has a number.

What was measured and its unit stand in the cells or in the caption above, the zone in the caption or its heading.
Which test it was isn't told, so that none is taken for one: its series are the report's own, by modes and zone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from benchweb.toolformats.numbers import NUMBER, decimal_prefix, figure, power_of_ten
from benchweb.toolformats.readings import Figure, Lines, Reading

_TOOL = "report"
_CORNER = re.compile(
    r"\W{0,4}(?:from|从|源\S{0,3}|source|src|client)\W{1,8}(?:to|到|目\S{0,3}|sink|dst|destination|server)\W{0,4}",
    re.IGNORECASE,
)
_RULE = re.compile(r":?-{2,}:?")
_CELL_END = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"(?P<marks>#{1,6}) +(?P<title>.*)")
_CAPTION_UNIT = re.compile(r"[（(](?P<unit>[^()（）]{1,24})[)）]")
# Behind the number its unit, then in brackets spread and count.
_CELL = re.compile(rf"(?P<number>{NUMBER})\s*(?P<unit>[^\d\s(（][^(（]{{0,20}})?(?:[(（].{{0,120}})?")
# A small b is a bit. Of bytes nobody knows whether a mega is 10^6 or 2^20: they aren't read.
_UNIT = re.compile(
    r"(?P<prefix>[kmgtKMGT]?)\s*(?:(?P<bits>[bB]its?/s(?:ec)?|bps|b/s)|(?P<packets>(?i:pps|pkts?/s|packets?/s(?:ec)?))"
    r"|(?P<transactions>(?i:tps|trans(?:actions)?/s(?:ec)?|req/s)))"
)
_RATES = {
    "bits": ("throughput_bps", "bit/s"),
    "packets": ("packets_per_second", "pkt/s"),
    "transactions": ("transactions_per_second", "transactions/s"),
}
_TIMES = {"s": 0, "ms": -3, "us": -6, "µs": -6, "μs": -6, "ns": -9}
_LATENCY = re.compile(r"latency|rtt|round.?trip|ping|延迟|时延|延时|往返", re.IGNORECASE)
_NO_MEAN = re.compile(
    r"\bp\d|\d(?:th|st|nd|rd)\b|percentile|max|min\b|minimum|median|stddev|jitter|抖动|百分位|最", re.IGNORECASE
)
_PACKETS = re.compile(r"packet|pps|包", re.IGNORECASE)
_LOSS = re.compile(r"loss|丢", re.IGNORECASE)
# A caption, and the heading above it, are looked for so many lines up; captions are no longer.
_MOST_ABOVE, _LONGEST_CAPTION = 200, 200
_REMARK = "Read from a report's table, not from the tool's own output."


@dataclass(frozen=True, slots=True)
class _Caption:
    """What stands above a table: what was measured, its unit, the zone, and settings; each empty where untold."""

    measure: str = ""
    unit: str = ""
    zone: str = ""
    setting: str = ""


@dataclass(frozen=True, slots=True)
class _Quantity:
    metric: str
    si_unit: str
    times: Decimal


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return a reading for each cell of the table whose head stands at `start`; None without a unit for any."""
    if "|" not in lines[start]:
        return None
    heads = _cells(lines[start])
    if len(heads) < 2 or not _CORNER.fullmatch(heads[0]) or not all(heads):
        return None
    caption = _caption(lines, start)
    readings: list[Reading] = []
    unread: list[str] = []
    index = start + 1
    while index < len(lines) and "|" in lines[index]:
        cells = _cells(lines[index])
        if _CORNER.fullmatch(cells[0]):
            # Another table's head.
            break
        if len(cells) == len(heads) and not all(map(_RULE.fullmatch, cells)):
            for sink, cell in zip(heads[1:], cells[1:], strict=True):
                if amount := _amount(cell, caption):
                    readings.append(_reading(caption, (cells[0], sink), amount, index + 1))
                elif any(character.isdigit() for character in cell):
                    unread.append(cell)
        index += 1
    if not readings:
        return None
    if unread:
        readings[0].remarks.append(f"{len(unread)} cells of the table aren't read, such as “{unread[0][:40]}”.")
    return readings, index


def _reading(caption: _Caption, modes: tuple[str, str], amount: Figure, number: int) -> Reading:
    named = {"zone": caption.zone, "source_mode": modes[0], "sink_mode": modes[1], "setting": caption.setting}
    return Reading(
        tool=_TOOL,
        test=caption.measure,
        parameters={name: value for name, value in named.items() if value},
        figures=[amount],
        remarks=[_REMARK],
        lines=Lines(number, number),
    )


def _amount(cell: str, caption: _Caption) -> Figure | None:
    found = _CELL.fullmatch(cell.strip("*` "))
    if found is None:
        return None
    quantity = _quantity((found["unit"] or caption.unit).strip(), caption.measure)
    if quantity is None:
        return None
    printed = cell if found["unit"] else f"{cell} {caption.unit}"
    return figure(quantity.metric, found["number"], quantity.si_unit, times=quantity.times, printed=printed)


def _quantity(unit: str, measure: str) -> _Quantity | None:
    """Return what a unit says was measured; with "K" alone packets, where the caption names them."""
    if unit in _TIMES and _LATENCY.search(measure) and not _NO_MEAN.search(measure):
        return _Quantity("latency_mean_seconds", "s", power_of_ten(_TIMES[unit]))
    if unit == "%" and _LOSS.search(measure):
        return _Quantity("loss_ratio", "ratio", power_of_ten(-2))
    if unit.lower() == "k" and _PACKETS.search(measure):
        return _Quantity("packets_per_second", "pkt/s", decimal_prefix("k"))
    known = _UNIT.fullmatch(unit)
    return _Quantity(*_RATES[known.lastgroup or ""], decimal_prefix(known["prefix"])) if known else None


def _caption(lines: Sequence[str], start: int) -> _Caption:
    """Return what the line above a table says; of a zone that it doesn't name the heading above that."""
    above = [line.strip() for line in reversed(lines[max(0, start - _MOST_ABOVE) : start]) if line.strip()]
    if not above or "|" in above[0] or len(above[0]) > _LONGEST_CAPTION:
        return _Caption()
    heading = _HEADING.fullmatch(above[0])
    text = (heading["title"] if heading else above[0]).strip("#*_:： ")
    unit = _CAPTION_UNIT.search(text)
    measure, *more = [part.strip() for part in text.split(" · ")]
    bare = _CAPTION_UNIT.sub("", measure).strip(":： ")
    zone = more[0] if more else _heading_above(above[1:], len(heading["marks"]) if heading else 7)
    return _Caption(bare, unit["unit"].strip() if unit else "", zone, " · ".join(more[1:]))


def _heading_above(above: Sequence[str], level: int) -> str:
    """Return the nearest heading of a higher rank."""
    for line in above:
        if (heading := _HEADING.fullmatch(line)) and len(heading["marks"]) < level:
            return heading["title"].strip("#*_:： ")
    return ""


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(bare)]
