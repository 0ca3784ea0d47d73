"""Which series a look at the history draws: their pairs, identities, names and colours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, Window
from django.db.models.functions import Coalesce, JSONObject

from benchweb.catalog import Kind, Parameter, nested_words
from benchweb.charts.axes import category
from benchweb.charts.history_choices import parameter_value
from benchweb.charts.history_query import HistoryQuery
from benchweb.charts.lines import COLORS, MARKERS
from benchweb.charts.plan_keys import keys_of
from benchweb.hosts.models import Pair
from benchweb.plans.models import PlanVersion
from benchweb.results.models import Series

# More lines than this can't be told apart, whatever their colours.
MOST_LINES = 12
# A message-size view draws a line through this many series.
MOST_SWEPT = 240
DASHES: tuple[Literal["solid", "dashed", "dotted"], ...] = ("solid", "dashed", "dotted")
_STRIP_QUANTITY = "loss"


@dataclass(frozen=True)
class Asked:
    """What is drawn of a kind: one metric, or a chart of percentiles, and what goes along with it."""

    kind: Kind
    key: str
    title: str
    # One metric, or percentiles from the lowest to the highest.
    metrics: list[str]
    strip: str
    # Metrics that are no line over time but a ceiling.
    ceilings: list[str]

    @property
    def is_percentiles(self) -> bool:
        return len(self.metrics) > 1

    @property
    def main(self) -> str:
        """Name the metric that is the line: of percentiles the median."""
        return next((each for each in self.metrics if "_p50_" in each), self.metrics[0])

    @property
    def beside(self) -> list[str]:
        return [*(each for each in self.metrics if each != self.main), *filter(None, [self.strip]), *self.ceilings]


@dataclass(frozen=True)
class HistoryLine:
    """One line: the series of a pair, kind and identity, by metric; its place among all of the metric never changes."""

    pair: Pair
    identity: dict[str, Any]
    digest: str
    series: dict[str, int]
    place: int

    @property
    def color(self) -> int:
        return self.place % COLORS

    @property
    def marker(self) -> Literal["circle", "rect", "triangle", "rectRot"]:
        return MARKERS[self.place // COLORS % len(MARKERS)]

    @property
    def dash(self) -> Literal["solid", "dashed", "dotted"]:
        return DASHES[self.place // (COLORS * len(MARKERS)) % len(DASHES)]


@dataclass(frozen=True)
class Chosen:
    """The lines of a look, and how many there would be."""

    lines: list[HistoryLine]
    total: int


def with_series(query: HistoryQuery) -> HistoryQuery:
    """Take kind and metric from the series that a query names, where it names any; one query then."""
    if not query.series:
        return query
    named = Series.objects.filter(pk__in=query.series).order_by("pk").values_list("kind", "metric").first()
    return replace(query, kind=named[0], metric=named[1]) if named else query


def asked_of(kind: Kind, key: str) -> Asked:
    """Find what a key names: a metric of the kind, or one of its charts of percentiles; else the headline."""
    charts = {chart.id: chart for chart in kind.charts if chart.form == "percentiles"}
    strip = next((name for name, metric in kind.metrics.items() if metric.quantity == _STRIP_QUANTITY), "")
    if key in charts and key not in kind.metrics:
        chart = charts[key]
        return Asked(kind, key, chart.title, list(chart.metrics), strip, [])
    metric = kind.metrics.get(key) or kind.metrics[kind.headline]
    ceilings = [name for chart in kind.charts if metric.key in chart.metrics for name in chart.lines]
    return Asked(kind, metric.key, metric.label, [metric.key], "" if strip == metric.key else strip, ceilings)


def chosen_lines(query: HistoryQuery, asked: Asked, *, most: int = MOST_LINES) -> Chosen:
    """Choose the lines that match, the oldest first; one query, and one more for a plan."""
    rows = _matching(query, asked.kind).filter(metric=asked.main)
    siblings = Series.objects.filter(
        pair=OuterRef("pair"),
        kind=OuterRef("kind"),
        identity_digest=OuterRef("identity_digest"),
        metric__in=asked.beside,
    )
    annotated = rows.annotate(
        total=Window(Count("pk")),
        # What sweeps many series gives its lines other colours, and to count for each of them would take long.
        place=_place() if most <= MOST_LINES else Value(0),
        siblings=ArraySubquery(siblings.order_by().values(found=JSONObject(metric="metric", id="pk"))),
    )
    named = annotated.select_related("pair__source__host", "pair__sink__host", "pair__environment")
    found = list(named.order_by("pk")[:most])
    return Chosen([_line(row, asked.main) for row in found], found[0].total if found else 0)


def line_names(lines: Sequence[HistoryLine], kind: Kind) -> list[str]:
    """Name each line by what sets it apart from the others; a single one by its pair."""
    parts = _parts(lines, kind)
    differing = [name for name in parts[0] if len({part[name] for part in parts}) > 1] if parts else []
    return [" · ".join(part[name] for name in differing or ["pair"]) for part in parts]


def common_words(lines: Sequence[HistoryLine], kind: Kind) -> str:
    """Say what all lines have in common: the kind, the pair, the environment, parameters."""
    parts = _parts(lines, kind)
    same = [name for name in parts[0] if len({part[name] for part in parts}) == 1] if parts else []
    return " · ".join([kind.label, *(parts[0][name] for name in same)])


def setting_words(parameter: Parameter, value: Any) -> str:
    """Say a parameter's value with its label and unit."""
    shown = nested_words(value) if parameter.is_test else category(value)
    return f"{parameter.label} {shown}{' ' + parameter.unit if parameter.unit else ''}"


def _parts(lines: Sequence[HistoryLine], kind: Kind) -> list[dict[str, str]]:
    """Give every line's parts by name, the same names for all: an identity leaves out what is a default."""
    names = [name for name in kind.parameters if any(name in line.identity for line in lines)]
    return [
        {"pair": str(line.pair), "environment": line.pair.environment.name}
        | {
            name: setting_words(parameter, line.identity.get(name, parameter.default))
            for name, parameter in kind.parameters.items()
            if name in names
        }
        for line in lines
    ]


def _line(row: Series, main: str) -> HistoryLine:
    # Of a metric without a strip or ceilings no siblings are asked for, and Django makes that NULL.
    ids = {main: row.pk} | {each["metric"]: each["id"] for each in row.siblings or ()}  # type: ignore[attr-defined]
    return HistoryLine(row.pair, row.identity, row.identity_digest, ids, row.place)  # type: ignore[attr-defined]


def _place() -> Coalesce:
    """Count the older series of the same kind and metric: it binds colours for good, and neighbours differ."""
    older = Series.objects.filter(kind=OuterRef("kind"), metric=OuterRef("metric"), pk__lt=OuterRef("pk"))
    counted = older.order_by().values("kind").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))


def _matching(query: HistoryQuery, kind: Kind) -> "QuerySet[Series, Series]":
    rows = Series.objects.filter(kind=kind.name)
    if query.series:
        rows = rows.filter(pk__in=query.series)
    if query.pair is not None:
        rows = rows.filter(pair=query.pair)
    if query.environment is not None:
        rows = rows.filter(pair__environment=query.environment)
    if query.host is not None:
        rows = rows.filter(Q(pair__source__host=query.host) | Q(pair__sink__host=query.host))
    if query.plan is not None:
        rows = rows.filter(identity_digest__in=_plan_digests(query.plan, kind))
    for name, text in query.parameters.items():
        if name in kind.parameters:
            rows = rows.filter(_has_value(kind.parameters[name], text))
    return rows


def _plan_digests(plan_id: int, kind: Kind) -> set[str]:
    keys = keys_of(PlanVersion.objects.filter(plan=plan_id))
    return {digest for pairs in keys.values() for name, digest in pairs if name == kind.name}


def _has_value(parameter: Parameter, text: str) -> Q:
    """Match a parameter's value in an identity, which leaves defaults out."""
    value = parameter_value(parameter, text)
    if value == parameter.default:
        return ~Q(identity__has_key=parameter.name)
    return Q(identity__contains={parameter.name: value})
