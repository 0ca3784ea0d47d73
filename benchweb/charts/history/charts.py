"""Charts over time: what a look at the history reads, and the charts it has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from benchweb.catalog import Kind
from benchweb.charts.changes.levels import NamedAlert, changes_of_series
from benchweb.charts.history.drawing import Drawing
from benchweb.charts.history.gaps import events_between
from benchweb.charts.history.lines import Chosen, HistoryLine, LineEnd, Selection, chosen_lines, selection_of
from benchweb.charts.history.marks import TimeMarks, annotations_on, facts_of
from benchweb.charts.history.points import history_points
from benchweb.charts.history.query import HistoryQuery
from benchweb.documents.charts import ChartSpec
from benchweb.documents.hidden import tagged
from benchweb.documents.references import Label, environment_ref, host_ref, worded


@dataclass(frozen=True)
class DrawnHistory:
    """What a look at the history gives: its charts, what is flagged on them, and how many lines don't fit."""

    selection: Selection | None
    charts: list[ChartSpec]
    lines: list[HistoryLine]
    total: int
    marks: TimeMarks
    step: str
    # Those that are flagged, in order of time.
    alerts: list[NamedAlert]


def history(query: HistoryQuery, kind: Kind | None) -> DrawnHistory:
    """Draw a kind's history; six queries: lines, points, events, notes, facts, alerts.

    One more each for a plan, and for plan versions and facts new to this process.
    """
    if kind is None:
        return DrawnHistory(None, [], [], 0, TimeMarks([], []), "run", [])
    selection = selection_of(kind, query.metric)
    chosen = chosen_lines(query, selection)
    if not chosen.lines:
        return DrawnHistory(selection, [], [], 0, TimeMarks([], []), "run", [])
    drawing = _drawing(query, selection, chosen)
    groups = _groups(query, chosen.lines)
    charts = [drawing.chart(chart_id, title, lines) for chart_id, title, lines in groups]
    return DrawnHistory(
        selection, charts, chosen.lines, chosen.total, drawing.marks, drawing.points.step, drawing.changes.alerts
    )


def _drawing(query: HistoryQuery, selection: Selection, chosen: Chosen) -> Drawing:
    """Read the points of lines, and what is told beside them."""
    wanted = [*selection.metrics, *filter(None, [selection.strip])]
    facts = facts_of(chosen.lines, query.span)
    return Drawing(
        query=query,
        selection=selection,
        points=history_points(
            [line.series[metric] for line in chosen.lines for metric in wanted if metric in line.series],
            pairs=list({line.pair.pk for line in chosen.lines}),
            period=query.span,
            zone=query.zone,
            plan=query.plan,
            ceilings=[line.series[key] for line in chosen.lines for key in selection.ceilings if key in line.series],
        ),
        events=events_between(chosen.lines, query.span, query.plan),
        marks=TimeMarks(annotations_on(chosen.lines, query.span), facts.changes),
        changes=changes_of_series(
            [line.series[selection.main] for line in chosen.lines] if query.has_changes else [], query.span
        ),
        links=facts.links,
        is_split=query.split != "",
    )


def _groups(query: HistoryQuery, lines: Sequence[HistoryLine]) -> list[tuple[str, str, list[HistoryLine]]]:
    """Return the lines of each small multiple with its id and name; all together when there is no split.

    An id stays with what its chart shows, whatever else is shown: dashboards know charts by them.
    """
    split = _SPLITS.get(query.split)
    if split is None:
        return [("history", "", list(lines))]
    groups: dict[tuple[str, int], list[HistoryLine]] = {}
    for line in lines:
        groups.setdefault(split(line), []).append(line)
    # A share without names has the ids too: they don't tell which row it is.
    return [(tagged("history", f"{query.split} {key}"), name, its) for (name, key), its in sorted(groups.items())]


def _source_words(source: LineEnd) -> Label:
    return worded(_("from %(host)s"), host=host_ref(source.host_id, source.host_name))


# What names a chart, and the row that it is of.
_SPLITS: dict[str, Callable[[HistoryLine], tuple[str, int]]] = {
    "pair": lambda line: (line.pair_words, line.pair.pk),
    "host": lambda line: (_source_words(line.pair.source), line.pair.source.host_id),
    "environment": lambda line: (environment_ref(line.pair.environment), line.pair.environment_id),
}
