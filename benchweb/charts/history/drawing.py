"""How a look at the history is drawn: medians with their spread, percentiles nested, loss below; gaps stay gaps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter

from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from benchweb.catalog import Metric
from benchweb.catalog.translation import sentence_space
from benchweb.charts.changes.levels import Changes
from benchweb.charts.export import pair_ids
from benchweb.charts.history.ceilings import Ceilings
from benchweb.charts.history.gaps import Break, Event, breaks
from benchweb.charts.history.line_names import common_words, line_names, line_parts
from benchweb.charts.history.lines import HistoryLine, Selection
from benchweb.charts.history.marks import TimeMarks, marks_of
from benchweb.charts.history.points import HistoryPoints, Step
from benchweb.charts.history.query import HistoryQuery
from benchweb.charts.percentiles import percentile_names
from benchweb.charts.table import chart_table
from benchweb.documents.charts import (
    Axis,
    ChartBand,
    ChartPoint,
    ChartSeries,
    ChartSpec,
    ChartStrip,
    Measured,
    ReferenceLine,
)
from benchweb.documents.moments import rfc3339, rfc3339_all
from benchweb.documents.references import Label, joined_label

# Since when something holds of which nobody knows.
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Drawing:
    """All that was read for a look."""

    query: HistoryQuery
    selection: Selection
    points: HistoryPoints
    events: list[Event]
    marks: TimeMarks
    changes: Changes
    links: dict[int, list[tuple[datetime, float]]]
    is_split: bool

    def chart(self, chart_id: str, title: str, lines: list[HistoryLine]) -> ChartSpec:
        """Draw lines in one chart, one of several where the look is split."""
        metric = self.selection.kind.metrics[self.selection.main]
        x, y = Axis(label=_("Time"), unit="", scale="time"), _y_axis(metric, is_log=self.selection.is_percentiles)
        parts = line_parts(lines, self.selection.kind)
        names = line_names(parts)
        series = [self._series(line, name) for line, name in zip(lines, names, strict=True)]
        strip = self._strip(lines, names)
        first, last = self._extent()
        ids = [line.series[self.selection.main] for line in lines]
        levels = [level for pk in ids for level in self.changes.levels(pk, self.points.series.get(pk, []))]
        return ChartSpec(
            id=chart_id,
            title=joined_label([title, self.selection.title]),
            subtitle=Label(
                common_words(parts, self.selection.kind),
                _point_sentence(self.points.step, self.selection.is_percentiles, get_language()),
                self._without_result(lines),
            ),
            form="time",
            x=x,
            y=y,
            series=series,
            lines=self._reference_lines(lines, metric),
            table=chart_table(
                x,
                y,
                nested=series if self.selection.is_percentiles else (),
                strip=strip.y if strip else None,
                has_levels=bool(levels),
            ),
            marks=sorted([*marks_of(self.marks, lines), *self.changes.marks(ids)], key=lambda mark: mark.at),
            levels=levels,
            strip=strip,
            x_from=rfc3339(first),
            x_to=rfc3339(last),
            scale_group="history" if self.is_split else "",
        )

    def _without_result(self, lines: Sequence[HistoryLine]) -> str:
        """Return a sentence that counts incomplete runs, or nothing where each point is a run and gaps show them."""
        if self.points.step == "run":
            return ""
        of = {line.pair.pk: set[tuple[str, str]]() for line in lines}
        for line in lines:
            of[line.pair.pk].add((self.selection.kind.name, line.digest))
        number = len(
            {(event.at, event.run) for event in self.events if not event.keys.isdisjoint(of.get(event.pair, ()))}
        )
        if not number:
            return ""
        words = ngettext(
            "%(number)s run or slot in this time range is incomplete.",
            "%(number)s runs or slots in this time range are incomplete.",
            number,
        )
        return sentence_space() + words % {"number": f"{number:,}"}

    def _extent(self) -> tuple[datetime, datetime]:
        """Return the time on the axes, one for all charts: as asked, else that of the points with some room around."""
        drawn = [rows for rows in self.points.series.values() if rows]
        if not drawn:
            return self.query.span
        return self.query.axis(min(rows[0].at for rows in drawn), max(rows[-1].at for rows in drawn))

    def _series(self, line: HistoryLine, name: str) -> ChartSeries:
        rows = self.points.series.get(line.series.get(self.selection.main, 0), [])
        key = (self.selection.kind.name, line.digest)
        events = [event for event in self.events if event.pair == line.pair.pk and key in event.keys]
        gaps = breaks(rows, events, Step(self.points.step, self.query.zone))
        return ChartSeries(
            id=_line_id(line, self.selection.main),
            label=name,
            color=line.color,
            marker=line.marker,
            dash=line.dash,
            ids=pair_ids(line.pair),
            points=_gaps(gaps),
            measured=rows,
            bands=self._nested(line, rows, gaps)
            if self.selection.is_percentiles
            else [ChartBand(_("lowest to highest"))],
        )

    def _nested(self, line: HistoryLine, rows: Sequence[Measured], gaps: Sequence[Break]) -> list[ChartBand]:
        """Pair the percentiles from the outside in: lowest to highest, then the next two, around the median."""
        metrics = [metric for metric in self.selection.metrics if metric in line.series]
        names = percentile_names(self.selection.metrics)
        # Series of one trial have the same times: the run, or the first run of a day, finds the point.
        by_run = {
            metric: {point.run: point.median for point in self.points.series[line.series[metric]]} for metric in metrics
        }
        # Sorting is stable: where both are at one time the point is first.
        stops: list[Measured | Break] = sorted([*rows, *gaps], key=attrgetter("at"))

        def border(metric: str) -> list[float | None]:
            return [None if isinstance(stop, Break) else by_run[metric].get(stop.run) for stop in stops]

        middle = metrics.index(self.selection.main)
        below, above = metrics[: middle + 1], metrics[middle:][::-1]
        # The lowest is the lower border of every band that lies above the median alone.
        pairs = [(below[min(depth, len(below) - 1)], high) for depth, high in enumerate(above[:-1])]
        return [_band(names[low], names[high], border(low), border(high)) for low, high in pairs]

    def _strip(self, lines: Sequence[HistoryLine], names: Sequence[str]) -> ChartStrip | None:
        metric = self.selection.kind.metrics.get(self.selection.strip)
        if metric is None or not any(metric.key in line.series for line in lines):
            return None
        series = [
            ChartSeries(
                id=_line_id(line, metric.key),
                of=_line_id(line, self.selection.main),
                label=Label(name, f", {metric.label.lower()}"),
                color=line.color,
                measured=_worst(self.points.series[line.series[metric.key]]),
            )
            for line, name in zip(lines, names, strict=True)
            if metric.key in line.series
        ]
        return ChartStrip(_y_axis(metric), series)

    def _reference_lines(self, lines: Iterable[HistoryLine], metric: Metric) -> list[ReferenceLine]:
        lines = list(lines)
        ceilings = Ceilings()
        for name in self.selection.ceilings:
            for index, line in enumerate(lines):
                changes = self.points.ceilings.get(line.series.get(name, 0), [])
                ceilings.add(self.selection.kind.metrics[name].label, index, changes)
        if metric.unit == "bit/s":
            for index, line in enumerate(lines):
                for end in line.pair.ends:
                    speeds = self.links.get(end.pk, [])
                    ceilings.add(_("Link rate"), index, speeds)
                    if not speeds and end.link_bps:
                        # Of what was entered nobody knows since when it holds: always.
                        ceilings.add(_("Link rate, as entered"), index, [(_EVER, end.link_bps)])
        return ceilings.lines(len(lines))


@lru_cache(maxsize=1_024)
def _point_sentence(step: str, is_percentiles: bool, _language: str | None) -> str:
    """Say what a point and its bar are, behind what the lines have in common; cached, for all views say the same."""
    if is_percentiles:
        spread = _("the bars lie between percentiles")
    else:
        spread = _("its bar reaches from the lowest to the highest of all repetitions")
    parts = _point_words()[step] + pgettext("between parts of a sentence", "; ") + spread
    return pgettext("between sentences", ". ") + parts + pgettext("end of a sentence", ".")


def _point_words() -> dict[str, str]:
    return {
        "run": _("Each point is the median of a run's repetitions"),
        "hour": _("Each point is the median of an hour's runs, shown at the first run"),
        "day": _("Each point is the median of a day's runs, shown at the first run"),
        "week": _("Each point is the median of a week's runs, shown at the first run"),
        "month": _("Each point is the median of a month's runs, shown at the first run"),
    }


def _line_id(line: HistoryLine, metric: str) -> str:
    return f"series-{line.series[metric]}"


def _band(low: str, high: str, lowest: list[float | None], highest: list[float | None]) -> ChartBand:
    label = _("%(low)s to %(high)s") % {"low": low, "high": high}
    return ChartBand(label, lowest, highest, key=f"{low} to {high}")


def _y_axis(metric: Metric, *, is_log: bool = False) -> Axis:
    """Return a quantity's axis; percentiles reach over decades, all else begins at zero."""
    label = metric.quantity[:1].upper() + metric.quantity[1:]
    return Axis(label=label, unit=metric.unit, from_zero=True, scale="log" if is_log else "linear")


def _gaps(gaps: Sequence[Break]) -> list[ChartPoint]:
    times = rfc3339_all([gap.at for gap in gaps])
    return [ChartPoint(at, None, reason=gap.reason, href=gap.href) for gap, at in zip(gaps, times, strict=True)]


def _worst(rows: Sequence[Measured]) -> list[Measured]:
    """Draw the worst of each time: a median would hide that one run of the day lost packets."""
    return [row._replace(median=row.high, run=None) for row in rows]
