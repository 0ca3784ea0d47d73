"""The chart specification: made here, drawn by one script (frontend/src/charts.ts)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

import orjson

Dash = Literal["solid", "dashed", "dotted", "dashdot", "long"]
# How much of a chart is drawn: all, with its buttons; small, inside a link that says what it shows, with a scale and
# days; or in a row, with the ends of its scale alone.
Detail = Literal["full", "small", "row"]


@dataclass(frozen=True)
class Axis:
    """One axis; `unit` is the catalog's SI unit, values are never scaled on the server."""

    label: str
    unit: str
    scale: Literal["linear", "log2", "log", "category", "time"] = "linear"
    from_zero: bool = False
    ticks: list[float] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)


# Frozen it would take three times as long to make, and a chart has a thousand.
@dataclass
class ChartPoint:
    """The median of `n` repetitions at x; low and high are their extremes; y None is missing, with its reason.

    One that is pending is yet to be measured, and not missing.
    """

    x: float | str
    y: float | None
    n: int = 0
    low: float | None = None
    high: float | None = None
    repetitions: Sequence[float] = ()
    href: str = ""
    reason: str = ""
    is_pending: bool = False


@dataclass(frozen=True)
class ChartBand:
    """What is shaded around a line: two borders, each as long as the line's points; None is a gap.

    Without borders it reaches from its points' lowest to their highest.
    """

    label: str
    low: list[float | None] | None = None
    high: list[float | None] | None = None
    # What the columns of an export call it, in every language alike.
    key: str = ""


class Measured(NamedTuple):
    """A point that was measured, and the run where it leads to; written as an array, for there are thousands."""

    at: datetime
    median: float
    n: int
    low: float
    high: float
    run: int | None


@dataclass(frozen=True)
class ChartSeries:
    """One line; `color` is an index into the eight colours, bound to the series' id and not to its place."""

    id: str
    label: str
    color: int
    dash: Dash = "solid"
    marker: Literal["circle", "rect", "triangle", "rectRot"] = "circle"
    # Of two lines in one colour, such as what was sent and what was received, the markers of one.
    is_hollow: bool = False
    points: list[ChartPoint] = field(default_factory=list)
    # Of a line of hundreds of points those that were measured, in short; `points` are then its gaps alone. Who reads
    # it puts both together by time, what was measured first.
    measured: Sequence[Measured] = ()
    # From the widest to the narrowest: the narrower is drawn over the wider.
    bands: list[ChartBand] = field(default_factory=list)
    # In a strip: the id of the chart's line that it tells more of.
    of: str = ""
    # Of a line of one pair, for exports: benchweb/charts/export.py.
    ids: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ReferenceLine:
    """A thin labelled horizontal line, such as the link rate; on a time axis maybe across a part of it."""

    label: str
    y: float
    # Times as in points; empty for the end of the axis.
    since: str = ""
    until: str = ""


@dataclass(frozen=True)
class ChartMark:
    """A flag on the time axis: somebody's note, a fact of a host that changed, an alert; times as in points."""

    at: str
    label: str
    kind: Literal["note", "fact", "alert"]
    until: str = ""
    href: str = ""


@dataclass(frozen=True)
class ChartLevel:
    """What a line, by its id, held to from one time to another, and the interval in which that level lies."""

    of: str
    since: str
    until: str
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ChartRing:
    """A point that is told apart: that with which a change began, or one that was measured again."""

    at: str
    y: float
    label: str
    kind: Literal["change", "again"]


@dataclass(frozen=True)
class ChartStrip:
    """A quantity of its own below the chart, on the same x axis, such as loss."""

    y: Axis
    series: list[ChartSeries]


@dataclass(frozen=True)
class ChartHeat:
    """Shares of what was counted: a column from each `starts` to its `ends`, a row between each two `edges`."""

    starts: list[str]
    ends: list[str]
    edges: list[float]
    # Column by column, each row's share of the column's count from 0 to 1.
    shares: list[list[float]]
    # The share with the strongest colour: the largest of all maps that are looked at together.
    most: float


@dataclass(frozen=True)
class ChartTable:
    """What the chart shows, as a table: columns are (key, label, unit); a cell is a raw value or None.

    Without rows there is one for each point of each series: the browser makes them of the points, for all figures sent
    a second time would be half of a page.
    """

    columns: list[dict[str, str]]
    rows: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class ChartSpec:
    """A whole chart."""

    id: str
    title: str
    x: Axis
    y: Axis
    series: list[ChartSeries]
    table: ChartTable
    subtitle: str = ""
    form: Literal["sweep", "percentiles", "time", "heat"] = "sweep"
    lines: list[ReferenceLine] = field(default_factory=list)
    csv_url: str = ""
    marks: list[ChartMark] = field(default_factory=list)
    levels: list[ChartLevel] = field(default_factory=list)
    rings: list[ChartRing] = field(default_factory=list)
    strip: ChartStrip | None = None
    heat: ChartHeat | None = None
    # The time that is shown, whether or not there are points at its ends; empty for all that there is.
    x_from: str = ""
    x_to: str = ""
    # Charts of one group have one y axis, however different their figures; empty for charts on their own.
    scale_group: str = ""
    detail: Detail = "full"


def charts_text(charts: Sequence[ChartSpec]) -> bytes:
    """Return the specs as a JSON array in UTF-8; orjson walks through dataclasses of thousands of points itself."""
    # Names that are translated late are said now.
    return orjson.dumps(charts, default=written_value, option=orjson.OPT_UTC_Z)


def written_value(value: Any) -> Any:
    """Return a point as an array, and a text that is yet to be translated as a text."""
    return tuple(value) if isinstance(value, Measured) else str(value)
