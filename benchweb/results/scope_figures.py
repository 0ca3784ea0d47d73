"""Read what a pair, or the pairs of a host, gave night by night and by message size: from runs' figures, no point."""

import json
from datetime import date
from typing import Any

from benchweb.catalog import catalog
from benchweb.common.rows import fetch
from benchweb.results.nightly_summaries import FIGURES
from benchweb.results.series_summaries import FigureNights, SeriesScope

# Of a host of hundreds of pairs so many tell: to read each of them night by night would take longer than its page.
MOST_PAIRS = 24

# The setting is chosen as that of an environment, and a pair's last run of a night is its figure of that night. Each
# night is one look into an index, however often a pair is measured.
_FIGURES = """
    with known as materialized (
        select series.id, series.pair_id, series.kind, series.metric, series.identity,
               series.identity_digest as digest,
               coalesce((series.identity ->> h.size_name)::float8, h.size_default) as size
        from hosts_pair pair
        join results_series series on series.pair_id = pair.id
        join results_recentmedians recent on recent.series_id = series.id
        left join unnest(%(kinds)s::text[], %(names)s::text[], %(defaults)s::float8[])
            as h(name, size_name, size_default) on h.name = series.kind
        where {only} and series.metric = any(%(metrics)s)
          and recent.at >= %(since)s::timestamp at time zone 'UTC' - interval '12 hours'
    ), chosen as materialized (
        select distinct on (metric) kind, metric, digest, number,
               case when metric = %(first)s then %(swept)s::jsonb ->> kind end as swept
        from (
            select *, row_number() over (alike order by size, digest) as place, count(*) over alike as alike_number
            from (
                select kind, metric, digest, min(size) as size, count(*) as number
                from known group by kind, metric, digest
            ) settings
            window alike as (partition by kind, metric, number)
        ) n
        order by metric, kind || '.' || metric <> all(%(usual)s), number desc,
                 size in (select main_size_bytes from plans_plan where archived_at is null) is not true,
                 abs(place - (alike_number / 2 + 1)), digest
    ), identity as (
        select distinct on (known.kind, known.metric, known.digest) chosen.metric, known.digest, known.identity
        from chosen join known on known.kind = chosen.kind and known.metric = chosen.metric
    ), member as (
        select known.id, known.metric, known.digest,
               row_number() over (alike order by known.pair_id) - 1 as place, count(*) over alike as number
        from chosen join known on known.kind = chosen.kind and known.metric = chosen.metric and (
            known.digest = chosen.digest
            or known.identity - chosen.swept = (
                select identity from identity where identity.metric = chosen.metric and identity.digest = chosen.digest
            ) - chosen.swept
        )
        window alike as (partition by known.metric, known.digest)
    ), nightly as (
        select member.metric, member.digest, night.day::date as night, min(figure.at) as at, count(*) as pairs,
               percentile_cont(0.5) within group (order by figure.median) as median, min(figure.low) as low,
               max(figure.high) as high, min(figure.median) as least, max(figure.median) as most, sum(figure.n) as n
        from member
        cross join generate_series(%(since)s::timestamp, %(until)s::timestamp, interval '1 day') as night(day)
        cross join lateral (
            select at, n, median, low, high from results_runfigure
            where series_id = member.id and at >= night.day at time zone 'UTC' - interval '12 hours'
              and at < night.day at time zone 'UTC' + interval '12 hours'
            order by at desc limit 1
        ) figure
        where member.place %% ((member.number + %(most)s - 1) / %(most)s) = 0
        group by member.metric, member.digest, night.day
    ), gathered as (
        select metric, digest, array_agg(night order by night) as nights, array_agg(median order by night) as medians,
               array_agg(pairs::int order by night) as pairs, array_agg(at order by night) as ats,
               array_agg(low order by night) as lows, array_agg(high order by night) as highs,
               array_agg(n::int order by night) as ns,
               (array_agg(least order by night desc))[1] as least, (array_agg(most order by night desc))[1] as most,
               (array_agg(n::int order by night desc))[1] as n
        from nightly group by metric, digest
    )
    select 0::bigint as environment_id, '' as environment, chosen.kind, chosen.metric, identity.identity, own.nights,
           own.medians, own.pairs, own.digest, own.nights as told, own.ats, own.lows, own.highs, own.ns,
           chosen.number::int as of_pairs,
           -- One pair alone has the range of its repetitions, several that of their medians.
           case when own.pairs[cardinality(own.pairs)] = 1 then own.lows[cardinality(own.lows)] else own.least end
               as low,
           case when own.pairs[cardinality(own.pairs)] = 1 then own.highs[cardinality(own.highs)] else own.most end
               as high,
           case when own.pairs[cardinality(own.pairs)] = 1 then own.n end as n,
           case when chosen.swept is not null then (
               select jsonb_agg(jsonb_build_object('value', other.identity -> chosen.swept,
                   'night', size.nights[cardinality(size.nights)], 'medians', size.medians,
                   'pairs', size.pairs[cardinality(size.pairs)]))
               from gathered size join identity other on other.metric = size.metric and other.digest = size.digest
               where size.metric = chosen.metric
           ) end as sizes,
           exists (
               select from member join results_runfigure figure on figure.series_id = member.id
               where member.metric = chosen.metric and member.digest = chosen.digest
                 and member.place %% ((member.number + %(most)s - 1) / %(most)s) = 0
                 and figure.at < %(since)s::timestamp at time zone 'UTC' - interval '12 hours'
           ) as has_earlier,
           (select array_agg(distinct name) from known other cross join jsonb_object_keys(other.identity) as name
            where other.kind = chosen.kind and other.metric = chosen.metric) as varied
    from chosen
    join gathered own on own.metric = chosen.metric and own.digest = chosen.digest
    join identity on identity.metric = chosen.metric and identity.digest = chosen.digest
    order by chosen.metric
"""


def scope_figures(scope: SeriesScope, *, since: date, until: date) -> list[FigureNights]:
    """Return the nights of each figure over a scope's pairs, of the setting that most of them measure; one query.

    Of more than `MOST_PAIRS` pairs that have it some are taken, evenly.
    """
    kinds = list(catalog().kinds.values())
    first = next(iter(FIGURES))
    values: dict[str, Any] = {
        "pair": scope.pair,
        "environment": scope.environment,
        "endpoints": list(scope.endpoints),
        "metrics": list(FIGURES),
        "first": first,
        "swept": json.dumps({kind.name: kind.sweeps[0].x for kind in kinds if first in kind.swept_metrics}),
        "usual": [f"{kind}.{metric}" for metric, kind in FIGURES.items()],
        "kinds": [kind.name for kind in kinds],
        "names": [kind.swept_size for kind in kinds],
        "defaults": [kind.parameters[kind.swept_size].default if kind.swept_size else None for kind in kinds],
        "since": since,
        "until": until,
        "most": MOST_PAIRS,
    }
    return fetch(FigureNights, _FIGURES.format(only=scope.condition), values)
