"""An environment's figures night by night, over all its pairs. A night is from noon to noon UTC, named by its end."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from benchweb.catalog import catalog
from benchweb.common.in_parts import in_parts
from benchweb.common.rows import fetch_value
from benchweb.results.models import EnvironmentNights, RecentMedians, Series

# What an environment is judged by at a glance, each with the kind that reports take it from; others stand in. Nights
# are kept of these, and of what is drawn over a swept parameter.
FIGURES = {"throughput_bps": "tcp_stream", "packets_per_second": "udp_stream", "latency_p99_seconds": "tcp_rr"}
RETAINED = 31
# Runs of a night end one after the other: its figures are made anew once a minute, not once a run.
_PAUSE = timedelta(minutes=1)
_ROWS_AT_ONCE = 10
# Nothing was measured before.
_THE_BEGINNING = date(1990, 1, 1)
# An arbitrary number of ours for PostgreSQL's advisory locks.
_LOCK = 7_410_031

_MARK_STALE = """
    insert into results_environmentnights as kept
        (environment_id, kind, metric, identity_digest, identity, stale_from, nights, medians, pairs, most_pairs)
    values (%s, %s, %s, %s, %s, %s, '{}', '{}', '{}', 0)
    on conflict (environment_id, kind, metric, identity_digest)
        do update set stale_from = least(kept.stale_from, excluded.stale_from)
"""
_FORGET = "delete from results_nightfigure where of_id = %(row)s and night >= %(stale_from)s"
# A run belongs to the night when it began to measure, as everywhere.
_SUM_UP = """
    insert into results_nightfigure (of_id, night, at, runs, pairs, n, median, low, high)
    select %(row)s, ((figure.at at time zone 'UTC') + interval '12 hours')::date as its_night, min(figure.at), count(*),
           count(distinct figure.series_id), sum(figure.n),
           percentile_cont(0.5) within group (order by figure.median), min(figure.low), max(figure.high)
    from results_series series
    join hosts_pair pair on pair.id = series.pair_id and pair.environment_id = %(environment)s
    join results_runfigure figure on figure.series_id = series.id and figure.at >= %(begin)s
    where series.kind = %(kind)s and series.metric = %(metric)s and series.identity_digest = %(digest)s
    group by its_night
"""


def night_of(at: datetime) -> date:
    """Return the night of a time: the date, in UTC, of the noon that ends it."""
    return (at.astimezone(UTC) + timedelta(hours=12)).date()


def is_swept(kind: str, metric: str) -> bool:
    """Tell whether a metric is drawn over what its kind sweeps."""
    known = catalog().kinds.get(kind)
    return known is not None and metric in known.swept_metrics


def mark_stale(series: Iterable[Series], ats: Mapping[int, Sequence[datetime]]) -> None:
    """Mark which nights of which environments have new results; the series come with their pairs."""
    stale: dict[tuple[int, str, str, str], tuple[str, date]] = {}
    for one_series in series:
        if one_series.metric in FIGURES or is_swept(one_series.kind, one_series.metric):
            key = (one_series.pair.environment_id, one_series.kind, one_series.metric, one_series.identity_digest)
            night = min(map(night_of, ats[one_series.pk]))
            stale[key] = json.dumps(one_series.identity), min(night, stale[key][1] if key in stale else night)
    with connection.cursor() as cursor:
        cursor.executemany(_MARK_STALE, [(*key, *values) for key, values in sorted(stale.items())])


def take_lock(*, wait: bool = False) -> bool:
    """Take the lock of whoever sums up, until the transaction ends; False when another has it."""
    locked = fetch_value(f"select pg{'' if wait else '_try'}_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})
    return wait or bool(locked)


@transaction.atomic
def make() -> int:
    """Make what is stale, each row at most once a minute; return how many. For the tick."""
    due = EnvironmentNights.objects.exclude(stale_from=None).filter(Q(made_at=None) | Q(made_at__lt=Now() - _PAUSE))
    if not due.exists() or not take_lock():
        return 0
    rows = list(due.order_by(F("made_at").asc(nulls_first=True), "pk")[:_ROWS_AT_ONCE])
    return in_parts(rows, _make_all, _set_aside)


@transaction.atomic
def _make_all(rows: Sequence[EnvironmentNights]) -> int:
    for row in rows:
        _make(row)
    return len(rows)


def _set_aside(row: EnvironmentNights, _error: Exception) -> None:
    """Leave a row that can't be made as it is until its next result comes: it must not hold up the others."""
    EnvironmentNights.objects.filter(pk=row.pk).update(stale_from=None, made_at=Now())


def make_anew(environments: Collection[int] | None = None) -> None:
    """Make all nights, of some environments or of all, in the caller's transaction, which is alone."""
    rows = EnvironmentNights.objects.all()
    for row in rows if environments is None else rows.filter(environment__in=environments):
        row.stale_from = _THE_BEGINNING
        _make(row)


def _make(row: EnvironmentNights) -> None:
    stale_from = row.stale_from
    if stale_from is None:
        return
    begin = datetime.combine(stale_from, time(), UTC) - timedelta(hours=12)
    _sum_up(row, stale_from, begin)
    values = _values_since(row, begin)
    older = {
        night: (value, pairs)
        for night, value, pairs in zip(row.nights, row.medians, row.pairs, strict=True)
        if night < stale_from
    }
    entries = older | {night: (median(measured), len(measured)) for night, measured in values.items()}
    nights = sorted(entries.items())[-RETAINED:]
    # A latest night that is not made again keeps its extremes.
    latest = values.get(nights[-1][0]) if nights else None
    low, high = (min(latest), max(latest)) if latest else (row.low, row.high)
    EnvironmentNights.objects.filter(pk=row.pk).update(
        nights=[night for night, _ in nights],
        medians=[value for _, (value, _) in nights],
        pairs=[pairs for _, (_, pairs) in nights],
        night=nights[-1][0] if nights else None,
        low=low,
        high=high,
        most_pairs=max((pairs for _, (_, pairs) in nights), default=0),
        stale_from=None,
        made_at=Now(),
    )


def _values_since(row: EnvironmentNights, begin: datetime) -> dict[date, list[float]]:
    """Return by night the figure of each pair that measured in it."""
    values: dict[date, list[float]] = defaultdict(list)
    recent = RecentMedians.objects.filter(
        series__pair__environment=row.environment_id,
        series__kind=row.kind,
        series__metric=row.metric,
        series__identity_digest=row.identity_digest,
        at__gte=begin,
    )
    for ats, medians in recent.values_list("ats", "medians"):
        # The last run of a night is the pair's figure of that night.
        last = {night_of(at): value for at, value in zip(ats, medians, strict=True) if at >= begin}
        for night, value in last.items():
            values[night].append(value)
    return values


def _sum_up(row: EnvironmentNights, stale_from: date, begin: datetime) -> None:
    """Make the figures of its nights from one on, which begins at a time, anew from those of their runs."""
    values: dict[str, Any] = {
        "row": row.pk,
        "stale_from": stale_from,
        "begin": begin,
        "environment": row.environment_id,
        "kind": row.kind,
        "metric": row.metric,
        "digest": row.identity_digest,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, values)
        cursor.execute(_SUM_UP, values)
