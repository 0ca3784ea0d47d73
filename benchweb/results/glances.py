"""Read what is kept of series' recent runs: changes worth a look, series at a glance, an environment's nights."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db import connection
from django.db.models import Case, F, FloatField, Q, When

from benchweb.catalog import catalog
from benchweb.hosts.models import Endpoint, Host
from benchweb.results.models import EnvironmentNights, RecentMedians
from benchweb.results.nights import FIGURES

# One event moves many series of a pair: they are one change, told by the main figure of a kind where one moved.
_CHANGES = """
    with changed as (
        select distinct on (series.pair_id) series.id as series_id, series.pair_id, pair.environment_id, recent.score,
               count(*) over (partition by series.pair_id) as together
        from results_recentmedians recent
        join results_series series on series.id = recent.series_id
        join hosts_pair pair on pair.id = series.pair_id and pair.archived_at is null
        where recent.is_change and recent.at >= %s
        order by series.pair_id, series.kind || '.' || series.metric <> all(%s), abs(recent.score) desc, series.id
    ), ranked as (
        select *, row_number() over (order by abs(score) desc, series_id) as place from changed
    )
    select ranked.environment_id, ranked.pair_id, ranked.series_id, together, series.kind, series.metric,
           series.identity, recent.at, recent.median, recent.n, recent.low, recent.high,
           recent.runs[cardinality(recent.runs)], recent.ats, recent.medians,
           source_host.name, source.name, source.network_mode, sink_host.name, sink.name, sink.network_mode
    from ranked
    left join results_series series on series.id = ranked.series_id and place <= %s
    left join results_recentmedians recent on recent.series_id = series.id
    left join hosts_pair pair on pair.id = series.pair_id
    left join hosts_endpoint source on source.id = pair.source_id
    left join hosts_host source_host on source_host.id = source.host_id
    left join hosts_endpoint sink on sink.id = pair.sink_id
    left join hosts_host sink_host on sink_host.id = sink.host_id
    order by place
"""


_OF_GLANCES = (
    *("runs", "ats", "medians", "at", "median", "n", "low", "high"),
    *("series__kind", "series__metric", "series__identity", "series__pair"),
    *(
        f"series__pair__{end}__{field}"
        for end in ("source", "sink")
        for field in ("name", "network_mode", "host__name")
    ),
)


@dataclass(frozen=True)
class Glance:
    """A series' recent medians with what names it; `n`, `low` and `high` are the latest run's."""

    pair_id: int
    series_id: int
    # How many series of the same pair stand out, where this one stands for all of them.
    together: int
    kind: str
    metric: str
    identity: dict[str, Any]
    at: datetime
    median: float
    n: int
    low: float
    high: float
    run: int
    ats: list[datetime]
    medians: list[float]
    source: str
    sink: str


@dataclass(frozen=True)
class Changes:
    """The largest changes, and how many each environment has."""

    largest: list[Glance]
    by_environment: Mapping[int, int]


def changes_since(since: datetime, most: int) -> Changes:
    """Give the series whose latest run began since then and stands out, one a pair; one query."""
    headlines = [f"{kind.name}.{kind.headline}" for kind in catalog().kinds.values()]
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, [since, headlines, most])
        rows = cursor.fetchall()
    counts = Counter(environment_id for environment_id, *_ in rows)
    return Changes([_changed(row) for _, *row in rows[:most]], counts)


def series_at_a_glance(*, pairs: Q, metric: str = "", kind: str = "", first: int = 0, most: int) -> list[Glance]:
    """Give the series of the pairs that match (a Q on `series__pair`), the worst first; one query.

    Without a metric: each kind's headline. The worst has moved furthest to its bad side, in units of its noise.
    """
    rows = RecentMedians.objects.filter(pairs, Q(series__metric=metric) if metric else _headlines())
    if kind:
        rows = rows.filter(series__kind=kind)
    lower = [each.key for each in catalog().metrics.values() if each.better == "lower"]
    goodness = Case(When(series__metric__in=lower, then=-F("score")), default=F("score"), output_field=FloatField())
    rows = rows.select_related("series__pair__source__host", "series__pair__sink__host").only(*_OF_GLANCES)
    return [_glance(row) for row in rows.order_by(goodness.asc(nulls_last=True), "series")[first : first + most]]


def environment_figures(since: date, environment_id: int | None = None) -> list[EnvironmentNights]:
    """Give each environment's nights of each figure, by the setting that most of its pairs measure; one query.

    Of the kind that the figure is usually taken from, else of another; among settings of equally many pairs the one
    with the best figure. Only what gave a result since that night.
    """
    rows = EnvironmentNights.objects.filter(metric__in=FIGURES, night__gte=since, environment__archived_at=None)
    if environment_id is not None:
        rows = rows.filter(environment=environment_id)
    usual = Q()
    for metric, kind in FIGURES.items():
        usual |= Q(metric=metric, kind=kind)
    lower = [key for key in FIGURES if catalog().metrics[key].better == "lower"]
    cost = Case(When(metric__in=lower, then=F("typical")), default=-F("typical"), output_field=FloatField())
    is_usual = Case(When(usual, then=0), default=1)
    rows = rows.order_by("environment_id", "metric", is_usual, "-most_pairs", cost, "pk")
    return list(rows.distinct("environment_id", "metric").select_related("environment"))


def _glance(row: RecentMedians) -> Glance:
    series = row.series
    return Glance(
        pair_id=series.pair_id,
        series_id=series.pk,
        together=1,
        kind=series.kind,
        metric=series.metric,
        identity=series.identity,
        at=row.at,
        median=row.median,
        n=row.n,
        low=row.low,
        high=row.high,
        run=row.runs[-1],
        ats=row.ats,
        medians=row.medians,
        source=str(series.pair.source),
        sink=str(series.pair.sink),
    )


def _changed(row: Sequence[Any]) -> Glance:
    *values, source_host, source, source_mode, sink_host, sink, sink_mode = row
    # Without a model around it, the document comes as text.
    values[5] = json.loads(values[5])
    ends = [
        Endpoint(host=Host(name=source_host), name=source, network_mode=source_mode),
        Endpoint(host=Host(name=sink_host), name=sink, network_mode=sink_mode),
    ]
    return Glance(*[*values, *map(str, ends)])


def _headlines() -> Q:
    found = Q()
    for kind in catalog().kinds.values():
        found |= Q(series__kind=kind.name, series__metric=kind.headline)
    return found
