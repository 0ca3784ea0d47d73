"""Take the second look at an environment's nights: each morning once, whoever takes it, and whatever is killed."""

import time as clock
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from benchweb.common.celery_client import send
from benchweb.common.in_parts import in_parts
from benchweb.common.rows import fetch, fetch_column
from benchweb.regressions.deciding import SLOW_LOOK_HOUR
from benchweb.regressions.models import SlowChange, SlowChangeSeries, SlowLook
from benchweb.regressions.selectors import night_zones
from benchweb.regressions.signals import slow_changes_found
from benchweb.regressions.slow.findings import SlowSeriesFinding, slow_finding
from benchweb.regressions.slow.grouping import SlowGroup, one_cause_groups
from benchweb.regressions.slow.nights import batches, pairs_looked_at
from benchweb.schedules.timing.localtime import zone_of
from benchweb.site.values import site_setting
from benchweb.statistics.comparison import adjusted_p_values
from benchweb.statistics.deciding import FALSE_DISCOVERY_RATE

TASK = "workers.tasks.take_slow_looks"
# Much longer than a batch takes.
_LEASE = timedelta(minutes=5)
# After a look none is due for so long: zones differ by less than the rest of a day, and clocks are moved by an hour.
_PAUSE_BETWEEN = timedelta(hours=12)
_PAUSE_SECONDS = 60.0
_DAY = timedelta(days=1)
_last = [-_PAUSE_SECONDS]
_CLAIM = """
    INSERT INTO regressions_slowlook AS look (environment_id, night, claimed_until)
    VALUES (%(environment)s, %(night)s, %(until)s)
    ON CONFLICT (environment_id, night) DO UPDATE SET claimed_until = excluded.claimed_until
      WHERE look.taken_at IS NULL AND look.claimed_until < statement_timestamp()
    RETURNING id
"""
_WAITING = """
    SELECT environment.id AS pk, lately.nights_of_others
    FROM hosts_environment environment
    CROSS JOIN LATERAL (
      SELECT array_agg(night) FILTER (WHERE claimed_until > %(now)s OR taken_at IS NOT NULL) AS nights_of_others,
        max(taken_at) AS taken_at
      FROM regressions_slowlook WHERE environment_id = environment.id AND night >= %(since)s
    ) lately
    WHERE environment.archived_at IS NULL AND (lately.taken_at IS NULL OR lately.taken_at <= %(lately)s)
    ORDER BY environment.id
"""


class _Waiting(NamedTuple):
    """An environment whose look may be due, and the nights of looks that somebody has taken or takes."""

    pk: int
    nights_of_others: list[date] | None


def send_due() -> int:
    """Let a worker take the looks that are due; return how many are. For the tick: once a minute."""
    if clock.monotonic() - _last[0] < _PAUSE_SECONDS:
        return 0
    _last[0] = clock.monotonic()
    due = due_looks(timezone.now())
    if due:
        send(TASK)
    return len(due)


def due_looks(now: datetime) -> list[tuple[int, date, ZoneInfo]]:
    """Return the environments whose look of today nobody has taken or takes, with its night and zone; two queries.

    Today's is due from the morning's hour on, by the clocks of the schedules, else of the installation.
    """
    otherwise = zone_of(site_setting("DEFAULT_TIME_ZONE"))
    values = {"since": (now - 2 * _DAY).date(), "now": now, "lately": now - _PAUSE_BETWEEN}
    waiting = {row.pk: row.nights_of_others or [] for row in fetch(_Waiting, _WAITING, values)}
    if not waiting:
        return []
    zones = night_zones(now.astimezone(otherwise).date(), waiting, otherwise=otherwise)
    due = []
    for pk, taken in waiting.items():
        local = now.astimezone(zones[pk].zone)
        if local.hour >= SLOW_LOOK_HOUR and local.date() not in taken:
            due.append((pk, local.date(), zones[pk].zone))
    return due


def take_due_looks() -> int:
    """Take the looks that are due, one after the other; one that fails keeps no other from it. Return how many."""
    return sum(in_parts([look], lambda looks: int(take_look(*looks[0]))) for look in due_looks(timezone.now()))


def take_look(environment_id: int, night: date, zone: ZoneInfo) -> bool:
    """Look at an environment's nights until one, and tell once what got worse slowly; False where somebody else does.

    A query and some tenths of a second for each few hundred series, and little memory: only what is found is kept.
    """
    claim = _claimed(environment_id, night)
    if claim is None:
        return False
    pairs = pairs_looked_at(environment_id)
    count, judged, findings = 0, set[int](), list[SlowSeriesFinding]()
    for batch in batches(pairs, night, zone):
        count += len(batch)
        judged |= {series.pair_id for series in batch}
        findings += [finding for series in batch if (finding := slow_finding(series))]
        if not _claim_renewed(claim):
            return False
    news = [finding for finding in beyond_chance(findings, series=count) if finding.is_news]
    return _write_found(claim, count, one_cause_groups(news, judged))


def beyond_chance(findings: Sequence[SlowSeriesFinding], *, series: int) -> list[SlowSeriesFinding]:
    """Return the findings that so many series of one look can't show by chance: of these a twentieth at most is."""
    p_values = [finding.change.p for finding in findings]
    adjusted = adjusted_p_values([*p_values, *([1.0] * (series - len(p_values)))])
    return [finding for finding, p in zip(findings, adjusted, strict=False) if p <= FALSE_DISCOVERY_RATE]


def _claimed(environment_id: int, night: date) -> SlowLook | None:
    values = {"environment": environment_id, "night": night, "until": timezone.now() + _LEASE}
    ids = fetch_column(_CLAIM, values)
    return SlowLook.objects.get(pk=ids[0]) if ids else None


def _claim_renewed(claim: SlowLook) -> bool:
    until = timezone.now() + _LEASE
    is_ours = bool(_still_ours(claim).update(claimed_until=until))
    claim.claimed_until = until
    return is_ours


def _still_ours(claim: SlowLook) -> "QuerySet[SlowLook, SlowLook]":
    return SlowLook.objects.filter(pk=claim.pk, claimed_until=claim.claimed_until, taken_at=None)


@transaction.atomic
def _write_found(claim: SlowLook, count: int, groups: Sequence[SlowGroup]) -> bool:
    """Write what was found and let it be told, unless another has taken the look over meanwhile."""
    if not _still_ours(claim).update(taken_at=timezone.now(), series_count=count):
        return False
    changes = []
    for group in groups:
        change = SlowChange.objects.create(
            look=claim, host_id=group.host_id, pair_id=group.pair_id, pair_count=group.pair_count
        )
        SlowChangeSeries.objects.bulk_create([_part(change, finding) for finding in group.findings])
        changes.append(change)
    if changes:
        slow_changes_found.send(sender=SlowLook, look=claim)
    return True


def _part(change: SlowChange, finding: SlowSeriesFinding) -> SlowChangeSeries:
    names = ("is_drift", "before", "after", "difference_ratio", "interval_low_ratio", "interval_high_ratio", "p")
    told = finding.series.told
    return SlowChangeSeries(
        change=change,
        series_id=finding.series.series_id,
        previous_id=told.pk if told else None,
        since=finding.since,
        nights=finding.nights,
        **{name: getattr(finding.change, name) for name in names},
    )
