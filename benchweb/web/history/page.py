"""The history page's prepared structure: charts, what to choose from, notes and changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.annotations.selectors import AnnotationRow
from benchweb.catalog import Kind, catalog
from benchweb.charts.changes.levels import NamedAlert
from benchweb.charts.history.charts import DrawnHistory, history
from benchweb.charts.history.choices import Choices, first_kind, history_choices
from benchweb.charts.history.heat.maps import heat_maps
from benchweb.charts.history.lines import HistoryLine, chosen_lines, selection_of, with_series
from benchweb.charts.history.marks import FlaggedChange
from benchweb.charts.history.query import HistoryQuery, history_query
from benchweb.charts.sizes.charts import size_charts, swept_parameter
from benchweb.common.addresses import site_path
from benchweb.documents.charts import ChartSpec
from benchweb.documents.moments import rfc3339
from benchweb.documents.references import Label, environment_ref, joined_label
from benchweb.web.history.filters import changed, history_filters, periods, shown_days
from benchweb.web.shared.chips import FilterLine
from benchweb.web.shared.zones import reader_zone


@dataclass(frozen=True)
class Link:
    """A choice that is a link: where to, and whether it is the one that is shown."""

    label: str
    url: str
    current: bool


@dataclass(frozen=True)
class HistoryView:
    """The page as its template shows it."""

    query: HistoryQuery
    choices: Choices
    charts: list[ChartSpec]
    lines: list[HistoryLine]
    # How many series are drawn, in a message-size view rested on, and how many match.
    series_drawn: int
    total: int
    metric: str
    annotations: list[AnnotationRow]
    changes: list[FlaggedChange]
    alerts: list[NamedAlert]
    filters: FilterLine
    views: list[Link]
    periods: list[Link]
    # The days shown, where the time is narrowed.
    days: dict[str, str]
    scopes: list[tuple[str, str]]
    whole_url: str
    # These filters over all time, for a look that is empty.
    ever_url: str
    csv_url: str
    json_url: str

    @property
    def is_empty(self) -> bool:
        return not any(
            chart.heat or any(line.points or line.measured for line in chart.series) for chart in self.charts
        )

    @property
    def heading(self) -> Label:
        """Say what is shown: "Throughput · a → b", and the environment or the kind where it is of several pairs."""
        chosen = next((metric.label for metric in self.choices.metrics if metric.key == self.metric), "")
        pairs = {line.pair_words for line in self.lines}
        environment = dict(self.choices.environments).get(str(self.query.environment or ""), "")
        of = next(iter(pairs)) if len(pairs) == 1 else environment and environment_ref(environment)
        return joined_label([chosen or (self.choices.kind.label if self.choices.kind else ""), of])

    @property
    def is_of_all_time(self) -> bool:
        return self.query.period.length is None and not self.query.is_zoomed

    @property
    def whole_from(self) -> str:
        return "" if self.query.is_fitted else rfc3339(self.query.whole[0])

    @property
    def whole_to(self) -> str:
        return rfc3339(self.query.whole[1])


def history_view(request: HttpRequest) -> HistoryView:
    """Prepare the page for a request's query string; four queries, and those that `history` may need besides."""
    query = query_of(request)
    choices = choices_of(query)
    query = _with_a_view(query, choices.kind)
    drawn = _drawn(query, choices.kind)
    over_time = drawn.over_time
    metric = over_time.selection.key if over_time and over_time.selection else query.metric
    here = request.GET
    return HistoryView(
        query=query,
        choices=choices,
        charts=drawn.charts,
        lines=drawn.lines,
        series_drawn=drawn.series_drawn,
        total=drawn.total,
        metric=metric,
        annotations=over_time.marks.annotations if over_time else [],
        changes=over_time.marks.changes if over_time else [],
        alerts=over_time.alerts if over_time else [],
        filters=history_filters(query, choices, here, metric),
        views=[
            Link(label, changed(here, view=key), query.view == key)
            for key, label in _views(choices, query, drawn.charts)
        ],
        periods=[
            Link(words, changed(here, over=key, **{"from": "", "to": ""}), query.period.key == key)
            for key, words in periods()
        ],
        days=shown_days(query),
        scopes=_scopes(drawn.lines),
        whole_url=changed(here, **{"from": "", "to": ""}),
        ever_url=changed(here, over="all", **{"from": "", "to": ""}),
        csv_url=site_path(f"/history.csv{changed(here)}"),
        json_url=site_path(f"/history/charts.json{changed(here)}"),
    )


def query_of(request: HttpRequest) -> HistoryQuery:
    """Read what a request asks of the history; one query where it names series."""
    return with_series(_query(request))


def _query(request: HttpRequest) -> HistoryQuery:
    return history_query(request.GET.dict(), now=timezone.now(), zone=reader_zone(request))


def choices_of(query: HistoryQuery) -> Choices:
    """Read what may be chosen beside what is."""
    return history_choices(
        kind=query.kind, host=query.host, environment=query.environment, pair=query.pair, plan=query.plan
    )


def drawn_charts(request: HttpRequest) -> list[ChartSpec]:
    """Draw what a request asks for, without the page around it."""
    query = query_of(request)
    kind = catalog().kinds.get(query.kind) or first_kind()
    return _drawn(_with_a_view(query, kind), kind).charts


def local_input(at: datetime, query: HistoryQuery) -> str:
    """Write a time as `<input type=datetime-local>` wants it, in the reader's zone."""
    return at.astimezone(query.zone).strftime("%Y-%m-%dT%H:%M")


class _Drawn(NamedTuple):
    charts: list[ChartSpec]
    lines: list[HistoryLine]
    series_drawn: int
    total: int
    over_time: DrawnHistory | None


def _drawn(query: HistoryQuery, kind: Kind | None) -> _Drawn:
    if kind is not None and query.view == "sizes":
        sizes = size_charts(query, kind)
        return _Drawn(sizes.charts, [], sizes.series, sizes.total, None)
    if kind is not None and query.view == "heat":
        # The median is what tells which trials have latencies at all.
        key = next((chart.id for chart in kind.charts if chart.form == "percentiles"), "")
        selection = selection_of(kind, key)
        chosen = chosen_lines(query, selection)
        charts = heat_maps(query, selection, chosen.lines)
        # Each is a chart of its own.
        return _Drawn(charts, chosen.lines, len(charts), chosen.total, None)
    over_time = history(query, kind)
    return _Drawn(over_time.charts, over_time.lines, len(over_time.lines), over_time.total, over_time)


def _with_a_view(query: HistoryQuery, kind: Kind | None) -> HistoryQuery:
    """Return what is asked of a view that the kind has; another kind's is over time."""
    if kind is None:
        return query
    has = {"heat": any(chart.form == "percentiles" for chart in kind.charts), "sizes": bool(kind.sweeps)}
    return query if has.get(query.view, True) else replace(query, view="time")


def _views(choices: Choices, query: HistoryQuery, charts: Sequence[ChartSpec]) -> list[tuple[str, str]]:
    kind = choices.kind
    views = [("time", _("Over time"))]
    if kind and any(chart.form == "percentiles" for chart in kind.charts):
        views.append(("heat", _("Latency heat map")))
    swept = swept_parameter(kind, {facet.parameter.name for facet in choices.facets}) if kind else None
    if swept is not None:
        # Of what is drawn: filters may leave another parameter that varies.
        label = charts[0].x.label if query.view == "sizes" and charts else swept.label
        views.append(("sizes", _("By %(parameter)s") % {"parameter": label.lower()}))
    return views


def _scopes(lines: Sequence[HistoryLine]) -> list[tuple[str, str]]:
    """Return what a note may be about: everything that is on the page, environments first."""
    environments = {f"environment:{line.pair.environment_id}": line.pair.environment for line in lines}
    hosts = {f"host:{end.host_id}": end.host_name for line in lines for end in line.pair.ends}
    pairs = {f"pair:{line.pair.pk}": line.pair_words for line in lines}
    return [*environments.items(), *hosts.items(), *pairs.items()]
