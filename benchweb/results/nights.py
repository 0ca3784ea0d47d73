"""An environment's figures night by night, over all its pairs. A night is from noon to noon UTC, named by its end."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from statistics import median

from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from benchweb.results.models import EnvironmentNights, RecentMedians, Series

# What an environment is judged by at a glance, each with the kind that reports take it from; others stand in.
FIGURES = {"throughput_bps": "tcp_stream", "packets_per_second": "udp_stream", "latency_p99_seconds": "tcp_rr"}
KEPT = 31
# Runs of a night end one after the other: its figures are made anew once a minute, not once a run.
_PAUSE = timedelta(minutes=1)
_ROWS_AT_ONCE = 10
# An arbitrary number of ours for PostgreSQL's advisory locks.
_LOCK = 7_410_031

_NOTE = """
    insert into results_environmentnights as kept
        (environment_id, kind, metric, identity_digest, identity, stale_from, nights, medians, pairs, most_pairs)
    values (%s, %s, %s, %s, %s, %s, '{}', '{}', '{}', 0)
    on conflict (environment_id, kind, metric, identity_digest)
        do update set stale_from = least(kept.stale_from, excluded.stale_from)
"""


def night_of(at: datetime) -> date:
    """Give the night of a time: the date, in UTC, of the noon that ends it."""
    return (at.astimezone(UTC) + timedelta(hours=12)).date()


def note(series: Iterable[Series], ats: Mapping[int, Sequence[datetime]]) -> None:
    """Note which nights of which environments have new results; the series come with their pairs."""
    stale: dict[tuple[int, str, str, str], tuple[str, date]] = {}
    for each in series:
        if each.metric in FIGURES:
            key = (each.pair.environment_id, each.kind, each.metric, each.identity_digest)
            night = min(map(night_of, ats[each.pk]))
            stale[key] = json.dumps(each.identity), min(night, stale[key][1] if key in stale else night)
    with connection.cursor() as cursor:
        cursor.executemany(_NOTE, [(*key, *values) for key, values in sorted(stale.items())])


def alone(*, wait: bool = False) -> bool:
    """Take the lock of whoever sums up, until the transaction ends; False when another has it."""
    with connection.cursor() as cursor:
        cursor.execute(f"select pg{'' if wait else '_try'}_advisory_xact_lock(%s)", [_LOCK])
        return wait or bool(cursor.fetchone()[0])


@transaction.atomic
def make() -> int:
    """Make what is stale, each row at most once a minute; give how many. For the tick."""
    due = EnvironmentNights.objects.exclude(stale_from=None).filter(Q(made_at=None) | Q(made_at__lt=Now() - _PAUSE))
    if not due.exists() or not alone():
        return 0
    rows = list(due.order_by(F("made_at").asc(nulls_first=True), "pk")[:_ROWS_AT_ONCE])
    for row in rows:
        _make(row)
    return len(rows)


def make_all() -> None:
    """Make everything that is stale, in the caller's transaction, which is alone."""
    for row in EnvironmentNights.objects.exclude(stale_from=None):
        _make(row)


def _make(row: EnvironmentNights) -> None:
    stale_from = row.stale_from
    if stale_from is None:
        return
    begin = datetime.combine(stale_from, time(), UTC) - timedelta(hours=12)
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
    older = {
        night: (value, pairs)
        for night, value, pairs in zip(row.nights, row.medians, row.pairs, strict=True)
        if night < stale_from
    }
    entries = older | {night: (median(found), len(found)) for night, found in values.items()}
    kept = sorted(entries.items())[-KEPT:]
    # A latest night that is not made again keeps its extremes.
    latest = values.get(kept[-1][0]) if kept else None
    low, high = (min(latest), max(latest)) if latest else (row.low, row.high)
    EnvironmentNights.objects.filter(pk=row.pk).update(
        nights=[night for night, _ in kept],
        medians=[value for _, (value, _) in kept],
        pairs=[pairs for _, (_, pairs) in kept],
        night=kept[-1][0] if kept else None,
        low=low,
        high=high,
        most_pairs=max((pairs for _, (_, pairs) in kept), default=0),
        typical=median(value for _, (value, _) in kept) if kept else None,
        stale_from=None,
        made_at=Now(),
    )
