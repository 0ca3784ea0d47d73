"""Heat maps of latencies over time, a column for each run that is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog import Kind
from benchweb.catalog.translation import sentence_space
from benchweb.charts.history.gaps import Break, Event, break_of, events_between, longest_usual
from benchweb.charts.history.heat.runs import LONGER_THAN_USUAL, bins_of, chosen_runs
from benchweb.charts.history.line_names import common_words, line_names, line_parts
from benchweb.charts.history.lines import HistoryLine, Selection
from benchweb.charts.history.query import HistoryQuery
from benchweb.common.addresses import site_path
from benchweb.documents.charts import Axis, ChartHeat, ChartPoint, ChartSeries, ChartSpec, ChartTable
from benchweb.documents.moments import rfc3339
from benchweb.documents.references import Label, joined_label
from benchweb.statistics.hdr import BINS_PER_OCTAVE, Bins

# Each costs a third of a millisecond to decode; a page draws so many columns in all.
MOST_HISTOGRAMS = 120
MOST_MAPS = 4
_MOST_ROWS = 32
_NANOSECONDS = 1e9
# From so many columns on the time between them is a rhythm.
_FEWEST_TO_KNOW = 5
_LEAST_COLUMN = timedelta(minutes=1)
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(frozen=True)
class _Column:
    """One trial's histogram, and its median as the engine told it."""

    run: int
    at: datetime
    # Where the runs end for which it stands; None of a single run.
    end: datetime | None
    median: float
    bins: Bins


@dataclass(frozen=True)
class _Map:
    """One line's columns; `total` is how many runs there are of it."""

    line: HistoryLine
    name: str
    columns: list[_Column]
    total: int
    # The usual time from one run to the next; None of a single run.
    usual: timedelta | None
    # Runs and slots of this line that gave nothing.
    events: list[Event]

    @property
    def has_rhythm(self) -> bool:
        return self.total >= _FEWEST_TO_KNOW

    @property
    def is_whole(self) -> bool:
        return len(self.columns) == self.total

    @property
    def longest(self) -> timedelta:
        """Return the time without a run from which on one is missing: the history's, where every run is drawn."""
        if not self.is_whole:
            return (self.usual or timedelta()) * LONGER_THAN_USUAL
        return longest_usual([(after.at - column.at).total_seconds() for column, after in pairwise(self.columns)])


@dataclass(frozen=True)
class _Scale:
    """What all maps of a page have in common: how bins make rows, and the share that has the strongest colour."""

    rows: range
    per_row: int
    most: float


def heat_maps(query: HistoryQuery, selection: Selection, lines: Sequence[HistoryLine]) -> list[ChartSpec]:
    """Draw the first lines' heat maps; a query for each, and one for histograms that are new to this process."""
    mapped = [line for line in lines if selection.main in line.series][:MOST_MAPS]
    if not mapped:
        return []
    most = MOST_HISTOGRAMS // len(mapped)
    chosen = [(line, chosen_runs(line.series[selection.main], query, most)) for line in mapped]
    bins = bins_of([row.trial for _line, rows in chosen for row in rows])
    events = events_between(mapped, query.span, query.plan)
    names = line_names(line_parts(mapped, selection.kind))
    maps = []
    for (line, rows), name in zip(chosen, names, strict=True):
        columns = [
            _Column(row.run, row.at, row.end, row.median, decoded)
            for row in rows
            if (decoded := bins.get(row.trial)) and decoded.counts
        ]
        if columns:
            key = (selection.kind.name, line.digest)
            # What a run gave before it failed is a column of its own.
            measured = {column.run for column in columns}
            mine = [event for event in events if event.pair == line.pair.pk and key in event.keys]
            of_line = [event for event in mine if event.run not in measured]
            maps.append(_Map(line, name, columns, rows[0].total, rows[0].usual, of_line))
    scale = _scale([column for heat_map in maps for column in heat_map.columns])
    ends = [_ends(heat_map.columns, query.span[1], has_rhythm=heat_map.has_rhythm) for heat_map in maps]
    lasts = [max([own[-1], *(event.at for event in heat_map.events)]) for heat_map, own in zip(maps, ends, strict=True)]
    # One axis for all, as in the history.
    axis = query.axis(min(heat_map.columns[0].at for heat_map in maps), max(lasts)) if maps else query.span
    return [
        _spec(selection.kind, heat_map, scale, ends=own, axis=axis) for heat_map, own in zip(maps, ends, strict=True)
    ]


def _scale(columns: Sequence[_Column]) -> _Scale:
    """Return the scale on which the maps of these columns can be compared with each other."""
    if not columns:
        return _Scale(range(0), 1, 0.0)
    first, last = _extent(columns)
    per_row = max(1, ceil((last - first + 1) / _MOST_ROWS))
    rows = range(first - first % per_row, last + 1, per_row)
    return _Scale(rows, per_row, max(max(_shares(column.bins, rows, per_row)) for column in columns))


def _spec(
    kind: Kind, drawn: _Map, scale: _Scale, *, ends: Sequence[datetime], axis: tuple[datetime, datetime]
) -> ChartSpec:
    line, columns, rows = drawn.line, drawn.columns, scale.rows
    edges = [_seconds(index) for index in [*rows, rows[-1] + scale.per_row]]
    shares = [_shares(column.bins, rows, scale.per_row) for column in columns]
    y = Axis(label=_("Latency"), unit="s", scale="log")
    return ChartSpec(
        id=f"heat-{line.series[min(line.series)]}",
        title=joined_label([_("Latencies over time"), drawn.name]),
        subtitle=Label(
            common_words(line_parts([line], kind), kind),
            pgettext("between sentences", ". "),
            f"{_words(len(columns), drawn.total)}{sentence_space()}{_reading()}",
        ),
        form="heat",
        x=Axis(label=_("Time"), unit="", scale="time"),
        y=y,
        series=[_median_line(drawn, ends)],
        heat=ChartHeat([rfc3339(column.at) for column in columns], list(map(rfc3339, ends)), edges, shares, scale.most),
        table=_table(columns, edges, shares),
        x_from=rfc3339(axis[0]),
        x_to=rfc3339(axis[1]),
    )


def _words(drawn: int, total: int) -> str:
    if drawn == total:
        # Two texts: a language with one form for all numbers would call the only one "one of 1".
        if total == 1:
            return _("The column is the run's repetition with the middle median; its width is not a duration.")
        words = _(
            "Each column is one of %(total)s runs: its repetition with the middle median. "
            "The width of a column is not a duration."
        )
        return words % {"total": f"{total:,}"}
    words = _(
        "Each column is one run's repetition with the middle median, and represents the runs up to the next column: "
        "%(drawn)s of %(total)s runs are shown."
    )
    return words % {"drawn": f"{drawn:,}", "total": f"{total:,}"}


def _reading() -> str:
    return _("The stronger the colour, the larger the share of the trial's latencies; the line is the median.")


def _extent(columns: Sequence[_Column]) -> tuple[int, int]:
    indexes = [index for column in columns for index in column.bins.counts]
    return min(indexes), max(indexes)


def _seconds(index: int) -> float:
    return float(2 ** (index / BINS_PER_OCTAVE)) / _NANOSECONDS


def _shares(bins: Bins, rows: range, per_row: int) -> list[float]:
    total = bins.total
    return [round(sum(bins.counts.get(index + step, 0) for step in range(per_row)) / total, 6) for index in rows]


def _ends(columns: Sequence[_Column], until: datetime, *, has_rhythm: bool) -> list[datetime]:
    """Return where each column ends: with the runs that it stands for, before a gap; the last with the time looked at.

    Of too few runs nobody knows when the next was due: a column isn't stretched over hours without a measurement.
    """
    latest = max(until, columns[-1].at + _LEAST_COLUMN)
    ends = [column.end if has_rhythm and column.end else column.at + _LEAST_COLUMN for column in columns]
    following = [*(column.at for column in columns[1:]), latest]
    return [min(end, after) for end, after in zip(ends, following, strict=True)]


def _median_line(drawn: _Map, ends: Sequence[datetime]) -> ChartSeries:
    """Draw the medians; where columns don't touch, and behind the last one, what gave nothing breaks the line."""
    points = []
    for column, end, following in zip(drawn.columns, ends, [*drawn.columns[1:], None], strict=True):
        points.append(ChartPoint(x=rfc3339(column.at), y=column.median, n=1, href=site_path(f"/runs/{column.run}")))
        if following is None or end < following.at:
            for gap in _without_result(drawn, column, end, following):
                at = max(gap.at, end)
                points.append(ChartPoint(x=rfc3339(at), y=None, reason=gap.reason, href=gap.href))
    line = drawn.line
    return ChartSeries(id=f"series-{line.series[min(line.series)]}", label="p50", color=line.color, points=points)


def _without_result(drawn: _Map, column: _Column, end: datetime, following: _Column | None) -> list[Break]:
    """Return what gave nothing between the runs that a column stands for and the next column."""
    # The last of the column's runs is a usual step before its end: what came well after that one is a turn of its own.
    after = end - drawn.usual / 2 if drawn.has_rhythm and drawn.usual else column.at
    breaks = [
        break_of(event) for event in drawn.events if after < event.at and (not following or event.at < following.at)
    ]
    if breaks or following is None or not drawn.has_rhythm or following.at - column.at <= drawn.longest:
        return breaks
    return [Break(end, _("nothing measured in this time range"))]


def _quantile(column: _Column, share: float) -> float | None:
    nanoseconds = column.bins.quantile(share)
    return None if nanoseconds is None else nanoseconds / _NANOSECONDS


def _table(columns: Sequence[_Column], edges: Sequence[float], shares: Sequence[Sequence[float]]) -> ChartTable:
    heads = [{"key": "x", "label": _("Time"), "unit": ""}, {"key": "n", "label": _("Latencies"), "unit": ""}]
    heads += [{"key": name, "label": name, "unit": "s"} for name in _QUANTILES]
    heads += [
        {"key": f"bin-{index}", "label": f"{low * 1e6:.3g}–{high * 1e6:.3g} µs", "unit": "ratio"}
        for index, (low, high) in enumerate(pairwise(edges))
    ]
    rows = [
        {"x": rfc3339(column.at), "n": column.bins.total}
        | {name: _quantile(column, share) for name, share in _QUANTILES.items()}
        | {f"bin-{index}": share for index, share in enumerate(own)}
        for column, own in zip(columns, shares, strict=True)
    ]
    return ChartTable(heads, rows)
