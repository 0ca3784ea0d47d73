"""Read what is kept of series' recent runs: series at a glance, an environment's nights."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from benchweb.catalog import catalog
from benchweb.common.rows import fetch
from benchweb.hosts.pairs import PairNames, with_pairs
from benchweb.results.nightly_summaries import FIGURES

# Written by hand: to build it from models takes as long as the page's table. The worst first: what has moved furthest
# to its bad side, in units of its noise.
_SUMMARIES = with_pairs("""
    select pair.environment_id, series.pair_id, series.id as series_id, series.kind, series.metric,
           series.identity, recent.at, recent.median, recent.n, recent.low, recent.high,
           recent.runs[cardinality(recent.runs)] as run, recent.ats, recent.medians,
           {pair_names}
    from results_recentmedians recent
    join results_series series on series.id = recent.series_id
    join hosts_pair pair on pair.id = series.pair_id
    {pair_ends}
    where {only}
    order by case when series.metric = any(%(lower)s) then -recent.score else recent.score end nulls last, series.id
    limit %(most)s offset %(first)s
""")


# Settings as EnvironmentNights has them, the most usual first; of equals that which most environments measure; of those
# of a size that a plan chose, and else the middle one by size, of two the larger: whatever was best,
# so that figures are of one setting from night to night, and below each other where they can be. With what each night's
# runs gave together, and of the first figure the same test at the other values that its kind sweeps.
_FIGURES = """
    with chosen as materialized (
        select distinct on (n.environment_id, n.metric)
               n.id, n.environment_id, e.name as environment, e.is_synthetic as is_sample, n.kind, n.metric,
               n.identity, n.identity_digest as digest,
               n.nights, n.medians, n.pairs, n.low, n.high, n.most_pairs,
               case when n.metric = %(first)s then %(swept)s::jsonb ->> n.kind end as swept
        from (
            select *, row_number() over (alike order by size, identity_digest) as place, count(*) over alike as number
            from (
                select nights.*, count(*) over (partition by kind, metric, identity_digest) as places,
                       coalesce((identity->>h.size_name)::float8, h.size_default) as size
                from results_environmentnights nights
                left join unnest(%(kinds)s::text[], %(names)s::text[], %(defaults)s::float8[])
                    as h(name, size_name, size_default) on h.name = nights.kind
                where metric = any(%(metrics)s)
            ) known
            window alike as (partition by environment_id, kind, metric, most_pairs, places)
        ) n join hosts_environment e on e.id = n.environment_id
        where n.night >= %(since)s and e.archived_at is null {only}
        order by n.environment_id, n.metric, n.kind || '.' || n.metric <> all(%(usual)s), n.most_pairs desc,
                 n.places desc,
                 n.size in (select main_size_bytes from plans_plan where archived_at is null) is not true,
                 abs(n.place - (n.number / 2 + 1)), n.identity_digest
    )
    select chosen.environment_id, chosen.environment, chosen.kind, chosen.metric, chosen.identity,
           chosen.nights, chosen.medians, chosen.pairs, chosen.low, chosen.high, chosen.digest, chosen.most_pairs,
           told.nights as told, told.ats, told.lows, told.highs, told.ns, size.sizes, test.varied, chosen.is_sample
    from chosen
    cross join lateral (
        select array_agg(night) as nights, array_agg(at) as ats, array_agg(low) as lows, array_agg(high) as highs,
            array_agg(case when runs = 1 then n::int end) as ns
        from results_nightfigure where of_id = chosen.id and night >= %(since)s
    ) told
    cross join lateral (
        select jsonb_agg(jsonb_build_object('value', other.identity -> chosen.swept, 'night', other.night,
            'medians', other.medians, 'pairs', other.pairs[cardinality(other.pairs)])) as sizes
        from results_environmentnights other
        where chosen.swept is not null and other.environment_id = chosen.environment_id and other.kind = chosen.kind
          and other.metric = chosen.metric and other.identity - chosen.swept = chosen.identity - chosen.swept
          and other.night >= %(since)s
    ) size
    cross join lateral (
        select array_agg(distinct name) as varied
        from results_environmentnights other cross join jsonb_object_keys(other.identity) as name
        where other.environment_id = chosen.environment_id and other.kind = chosen.kind
          and other.metric = chosen.metric and other.night >= %(since)s
    ) test
    order by chosen.environment_id, chosen.metric
"""


class FigureNights(NamedTuple):
    """A figure of an environment, night by night, in one setting; the lists go together, oldest first."""

    environment_id: int
    environment: str
    kind: str
    metric: str
    identity: dict[str, Any]
    nights: list[date]
    medians: list[float]
    pairs: list[int]
    # Over the pairs of the latest night.
    low: float | None
    high: float | None
    digest: str = ""
    # Of one night.
    most_pairs: int = 0
    # In no order: nights that runs are told of, when the first of each night's began, and the extremes and number of
    # all its repetitions. The lists go together.
    told: list[date] | None = None
    ats: list[datetime] | None = None
    lows: list[float] | None = None
    highs: list[float] | None = None
    # None in a night of several runs, of whose last one alone the median is.
    ns: list[int | None] | None = None
    # The same test at each value that its kind sweeps, of the first figure alone: `value` is None for the default.
    sizes: list[dict[str, Any]] | None = None
    # What any test of the kind sets otherwise than by default there: a link to this one must name all of it.
    varied: list[str] | None = None
    # Of an environment that nobody measured.
    is_sample: bool = False
    # Repetitions of the latest night where it is one pair's; None over several.
    n: int | None = None
    # How many pairs have it, where only some of them were read.
    of_pairs: int | None = None
    # Whether there are nights before those that were read; None where all that are kept were.
    has_earlier: bool | None = None


@dataclass(frozen=True)
class SeriesScope:
    """Whose series are wanted: of one pair, or of the pairs in use of an environment or of some endpoints."""

    pair: int | None = None
    environment: int | None = None
    endpoints: Sequence[int] = ()

    @property
    def condition(self) -> str:
        if self.pair is not None:
            return "pair.id = %(pair)s"
        if self.environment is not None:
            return "pair.archived_at is null and pair.environment_id = %(environment)s"
        return "pair.archived_at is null and (pair.source_id = any(%(endpoints)s) or pair.sink_id = any(%(endpoints)s))"


@dataclass(frozen=True, kw_only=True)
class SeriesSummary(PairNames):
    """A series' recent medians with what names it; `n`, `low` and `high` are the latest run's."""

    environment_id: int
    pair_id: int
    series_id: int
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


def series_summaries(
    *, scope: SeriesScope, metric: str = "", kind: str = "", first: int = 0, most: int
) -> list[SeriesSummary]:
    """Return the series of a scope, the worst first. Without a metric: each kind's headline."""
    values = {
        "pair": scope.pair,
        "environment": scope.environment,
        "endpoints": list(scope.endpoints),
        "headlines": _headlines(),
        "headline_metrics": [kind.headline for kind in catalog().kinds.values()],
        "metric": metric,
        "kind": kind,
        "lower": [metric.key for metric in catalog().metrics.values() if metric.better == "lower"],
        "first": first,
        "most": most,
    }
    # By the metric alone first: to put kind and metric together for each series of a host takes ten times as long.
    headlines = "series.metric = any(%(headline_metrics)s) and series.kind || '.' || series.metric = any(%(headlines)s)"
    chosen = "series.metric = %(metric)s" if metric else headlines
    only = [scope.condition, chosen, *(["series.kind = %(kind)s"] if kind else [])]
    statement = _SUMMARIES.format(only=" and ".join(only))
    return fetch(SeriesSummary, statement, values)


def environment_figures(since: date, environments: Sequence[int] | None = None) -> list[FigureNights]:
    """Return each environment's nights of each figure, by the setting that most of its pairs measure.

    Of the kind that the figure is usually taken from, else of another; among settings of equally many pairs that of a
    size that a plan chose, else the middle one. Only what gave a result since that night. One query, however many
    environments.
    """
    kinds = list(catalog().kinds.values())
    first = next(iter(FIGURES))
    swept = {kind.name: kind.sweeps[0].x for kind in kinds if first in kind.swept_metrics}
    values = {
        "metrics": list(FIGURES),
        "first": first,
        "swept": json.dumps(swept),
        "usual": [f"{kind}.{metric}" for metric, kind in FIGURES.items()],
        "kinds": [kind.name for kind in kinds],
        "names": [kind.swept_size for kind in kinds],
        "defaults": [kind.parameters[kind.swept_size].default if kind.swept_size else None for kind in kinds],
        "since": since,
        "environments": environments,
    }
    only = "" if environments is None else "and n.environment_id = any(%(environments)s)"
    return fetch(FigureNights, _FIGURES.format(only=only), values)


def _headlines() -> list[str]:
    return [f"{kind.name}.{kind.headline}" for kind in catalog().kinds.values()]
