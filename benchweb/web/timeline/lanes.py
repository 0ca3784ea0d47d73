"""Lanes of bars along one axis of time: the timeline, and the Gantt picture of a campaign to come."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise, zip_longest
from unicodedata import east_asian_width

from django.utils.dateformat import format as date_format
from django.utils.translation import pgettext

# Steps between ticks; the first that leaves at most so many.
_STEPS_SECONDS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 604_800)
_MOST_TICKS = 9
# Per cent of the axis: a bar of one second in a night would else be too thin to see or to click.
_LEAST_WIDTH = 0.3
_NEAR_EDGE_PERCENT = 4.0
# An axis on a phone, letters and characters of a label, and the room beside it.
_NARROW_PIXELS = 290
_LETTER_PIXELS, _WIDE_PIXELS = 6.5, 11.0
_LABEL_ROOM = 8.0


@dataclass(frozen=True)
class Bar:
    """Something from a time to a time; `state` picks its colour, `label` says it in words."""

    begin: datetime
    end: datetime
    state: str
    label: str
    url: str = ""


@dataclass(frozen=True)
class Lane:
    """The bars of one host or schedule."""

    label: str
    bars: Sequence[Bar]
    url: str = ""


@dataclass(frozen=True)
class DrawnBar:
    """A bar with its place in per cent of the axis."""

    bar: Bar
    left: str
    width: str


@dataclass(frozen=True)
class DrawnLane:
    lane: Lane
    bars: list[DrawnBar]


@dataclass(frozen=True)
class Tick:
    """A tick of the axis; a narrow one leaves out the labels that are spare, those of days last."""

    left: str
    label: str
    is_spare: bool
    # So near to an end of the axis that its label, centred, would reach out of the window: "first", "last", or neither.
    edge: str
    # The same on an axis of a phone's width.
    narrow_edge: str


@dataclass(frozen=True)
class TimelineLanes:
    """Everything that the template draws; `now` is empty when it isn't on the axis."""

    title: str
    lanes: list[DrawnLane]
    ticks: list[Tick]
    now: str
    hidden: int


def lanes_of(
    title: str,
    lanes: Sequence[Lane],
    *,
    begin: datetime,
    end: datetime,
    zone: tzinfo,
    now: datetime | None = None,
    most: int = 60,
) -> TimelineLanes:
    """Place bars on the axis from `begin` to `end`; what is outside is cut off, lanes beyond `shown` are counted."""
    whole_seconds = max(1.0, (end - begin).total_seconds())

    def percent(moment: datetime) -> float:
        return min(100.0, max(0.0, (moment - begin).total_seconds() / whole_seconds * 100))

    rows = [
        DrawnLane(
            lane,
            list(_drawn([bar for bar in lane.bars if bar.end > begin and bar.begin < end], percent, now)),
        )
        for lane in lanes[:most]
    ]
    moments = list(_ticks(begin, end, zone))
    tick_positions = [(percent(moment), label, _is_midnight(moment, zone)) for moment, label in moments]
    visible = _visible_when_narrow(tick_positions)
    ticks = [
        Tick(
            _number(left),
            label,
            is_spare=number not in visible,
            edge=_edge(left, _NEAR_EDGE_PERCENT),
            narrow_edge=_edge(left, _narrow_percent(label) / 2),
        )
        for number, (left, label, _is_day) in enumerate(tick_positions)
    ]
    is_on_axis = now is not None and begin <= now <= end
    return TimelineLanes(
        title, rows, ticks, _number(percent(now)) if now and is_on_axis else "", max(0, len(lanes) - most)
    )


def _drawn(bars: Sequence[Bar], percent: Callable[[datetime], float], now: datetime | None) -> Iterator[DrawnBar]:
    """Place a lane's bars in their order: of two that touch, the later lies over the former.

    A short one is widened, but neither over what follows nor into what is still to come.
    """
    bars = sorted(bars, key=lambda bar: bar.begin)
    for bar, following in zip_longest(bars, bars[1:]):
        left, right = percent(bar.begin), percent(bar.end)
        room = min(
            percent(following.begin) if following else 100.0,
            percent(now) if now is not None and bar.end <= now else 100.0,
        )
        right = max(right, min(left + _LEAST_WIDTH, room))
        left = max(0.0, min(left, right - _LEAST_WIDTH))
        yield DrawnBar(bar, _number(left), _number(right - left))


def _ticks(begin: datetime, end: datetime, zone: tzinfo) -> Iterator[tuple[datetime, str]]:
    """Return round local times; midnights name their day."""
    whole_seconds = (end - begin).total_seconds()
    step = next((step for step in _STEPS_SECONDS if whole_seconds / step <= _MOST_TICKS), _STEPS_SECONDS[-1])
    local = begin.astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    into_day = (local - midnight).total_seconds()
    first = local + timedelta(seconds=-into_day % step)
    moment = first.astimezone(begin.tzinfo)
    while moment <= end:
        yield moment, _tick_label(moment.astimezone(zone), step)
        moment += timedelta(seconds=step)


def _visible_when_narrow(tick_positions: Sequence[tuple[float, str, bool]]) -> set[int]:
    """Choose the labels that don't touch on an axis of a phone's width, days before clock times: their numbers.

    `tick_positions` are per cent of the axis, the label, and whether it names a day.
    """
    spans = []
    for left, label, _is_day in tick_positions:
        width = _narrow_percent(label)
        begin = left - {"first": 0.0, "last": width}.get(_edge(left, width / 2), width / 2)
        spans.append((begin, begin + width))

    def apart(numbers: Sequence[int]) -> bool:
        return all(spans[one][1] <= spans[other][0] for one, other in pairwise(numbers))

    if not any(is_day for _left, _label, is_day in tick_positions):
        # As evenly as the ticks themselves.
        strides = (range(0, len(tick_positions), step) for step in range(1, len(tick_positions) + 1))
        return set(next((stride for stride in strides if apart(stride)), ()))
    visible: set[int] = set()
    for number in sorted(range(len(tick_positions)), key=lambda tick: not tick_positions[tick][2]):
        if apart(sorted({*visible, number})):
            visible.add(number)
    return visible


def _narrow_percent(label: str) -> float:
    """Return the width of a label and the room that it needs, in per cent of an axis of a phone's width."""
    letters = sum(_WIDE_PIXELS if east_asian_width(character) == "W" else _LETTER_PIXELS for character in label)
    return (_LABEL_ROOM + letters) / _NARROW_PIXELS * 100


def _edge(percent: float, near: float) -> str:
    return "first" if percent < near else "last" if percent > 100 - near else ""


def _is_midnight(moment: datetime, zone: tzinfo) -> bool:
    local = moment.astimezone(zone)
    return local.hour == local.minute == local.second == 0


def _tick_label(local: datetime, step: int) -> str:
    if _is_midnight(local, local.tzinfo or UTC):
        return date_format(local, pgettext("a date without a year", "D j M"))
    return local.strftime("%H:%M" if step >= 60 else "%H:%M:%S")


def _number(percent: float) -> str:
    # Never in the reader's locale: it is an attribute of SVG.
    return f"{percent:.3f}"
