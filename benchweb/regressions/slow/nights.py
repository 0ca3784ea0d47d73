"""Read the nights of an environment's series, each night's median of runs, pair after pair."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from benchweb.catalog import catalog
from benchweb.common.rows import fetch
from benchweb.hosts.models import Pair
from benchweb.regressions.judging.sensitivity import COLUMNS_SQL, JOINS_SQL
from benchweb.regressions.judging.watched import watched_metric
from benchweb.regressions.models import Alert
from benchweb.regressions.slow.findings import NightSeries, ToldSlow, ToldSpan
from benchweb.statistics.deciding import LEAST_NIGHTS_OF_SLOW, LEAST_SLOW_RATIO, SLOW_NIGHTS

# Some hundred series, of 90 nights each: less than a second's work, and a few megabytes.
_PAIRS_AT_ONCE = 10
_DAY = timedelta(days=1)
_NIGHT = "((%s AT TIME ZONE %%(zone)s) + interval '12 hours')::date"
_SQL = f"""
SELECT series.id AS series_id, series.pair_id, series.kind, series.metric, {COLUMNS_SQL},
  known.nights, known.medians, alerts.begins, alerts.ends,
  told.id AS told_id, told.night AS told_night, told.before AS told_before, told.after AS told_after
FROM results_series series
JOIN hosts_pair pair ON pair.id = series.pair_id
{JOINS_SQL}
CROSS JOIN LATERAL (
  SELECT array_agg(night ORDER BY night) AS nights, array_agg(median ORDER BY night) AS medians
  FROM (
    SELECT {_NIGHT % "at"} AS night, percentile_cont(0.5) WITHIN GROUP (ORDER BY median) AS median
    FROM results_runfigure
    WHERE series_id = series.id AND at >= %(begins)s AND at < %(ends)s
    GROUP BY 1
  ) night
) known
CROSS JOIN LATERAL (
  SELECT array_agg({_NIGHT % "bad.started_at"} ORDER BY part.id) AS begins,
    array_agg({_NIGHT % "good.started_at"} ORDER BY part.id) AS ends
  FROM regressions_alertseries part
  JOIN regressions_alert alert ON alert.id = part.alert_id AND alert.kind = %(change)s AND alert.opened_at IS NOT NULL
  JOIN runs_run bad ON bad.id = part.first_bad_run_id AND bad.started_at >= %(begins)s
  LEFT JOIN runs_run good ON good.id = part.recovered_run_id
  WHERE part.series_id = series.id AND part.threshold_id IS NULL
) alerts
LEFT JOIN LATERAL (
  SELECT part.id, look.night, part.before, part.after
  FROM regressions_slowchangeseries part
  JOIN regressions_slowchange change ON change.id = part.change_id
  JOIN regressions_slowlook look ON look.id = change.look_id
  WHERE part.series_id = series.id ORDER BY part.id DESC LIMIT 1
) told ON true
WHERE series.pair_id = ANY(%(pairs)s::bigint[])
  AND (series.kind, series.metric) IN (SELECT * FROM unnest(%(kinds)s::text[], %(metrics)s::text[]))
  AND cardinality(known.nights) >= %(least)s
ORDER BY series.id
"""  # noqa: S608  (statements of our own)


class _Row(NamedTuple):
    series_id: int
    pair_id: int
    kind: str
    metric: str
    taught_ratio: float | None
    floor_ratio: float | None
    noise_times: float | None
    nights: list[date]
    medians: list[float]
    begins: list[date] | None
    ends: list[date | None] | None
    told_id: int | None
    told_night: date | None
    told_before: float | None
    told_after: float | None


def pairs_looked_at(environment_id: int) -> list[int]:
    """Return the pairs in use of an environment, by their ids; one query."""
    return list(
        Pair.objects.filter(environment=environment_id, archived_at=None).order_by("pk").values_list("pk", flat=True)
    )


def batches(pair_ids: Sequence[int], night: date, zone: ZoneInfo) -> Iterator[list[NightSeries]]:
    """Yield the judged series of these pairs that have enough nights until one, some pairs' at a time; a query each.

    Nights go from noon to noon in the zone, and are named by the date of their end.
    """
    watched = [
        (kind.name, key) for kind in catalog().kinds.values() for key in kind.metrics if watched_metric(kind.name, key)
    ]
    first = night - (SLOW_NIGHTS - 1) * _DAY
    values = {
        "zone": zone.key,
        "begins": datetime.combine(first - _DAY, time(12), zone),
        "ends": datetime.combine(night, time(12), zone),
        "change": Alert.Kind.CHANGE.value,
        "kinds": [kind for kind, _ in watched],
        "metrics": [metric for _, metric in watched],
        "least": LEAST_NIGHTS_OF_SLOW,
    }
    for start in range(0, len(pair_ids), _PAIRS_AT_ONCE):
        rows = fetch(_Row, _SQL, values | {"pairs": list(pair_ids[start : start + _PAIRS_AT_ONCE])})
        yield [series for row in rows if (series := _night_series(row, first, night))]


def _night_series(row: _Row, first: date, night: date) -> NightSeries | None:
    metric = watched_metric(row.kind, row.metric)
    if metric is None:
        return None
    medians = dict(zip(row.nights, row.medians, strict=True))
    told = None
    if row.told_id is not None and row.told_night is not None:
        told = ToldSlow(row.told_id, row.told_night, row.told_before or 0.0, row.told_after or 0.0)
    return NightSeries(
        series_id=row.series_id,
        pair_id=row.pair_id,
        kind=row.kind,
        metric=metric,
        night=night,
        values=[medians.get(first + index * _DAY) for index in range(SLOW_NIGHTS)],
        # What was taught of its noise, and what somebody chose, is never undercut.
        floor_ratio=max(row.taught_ratio or 0.0, row.floor_ratio or 0.0, LEAST_SLOW_RATIO),
        alerts=[ToldSpan(*span) for span in zip(row.begins or (), row.ends or (), strict=True)],
        told=told,
    )
