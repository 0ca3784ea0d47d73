"""Probes of every endpoint each minute: whose turn it is, and what they found, kept as spans and hours."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Now

from benchweb.catalog.reasons import reason_fields
from benchweb.common import celery_client
from benchweb.common.rows import database_now
from benchweb.hosts.endpoints.services import CHECK_TASK
from benchweb.hosts.models import AvailabilitySpan, Endpoint

PROBE_TASK = "workers.tasks.probe_endpoints"
PROBE_PERIOD = timedelta(minutes=1)
# Longer without a probe, and nothing is known of the time between: with no worker running, no host is seen to be up.
PROBE_GAP = timedelta(minutes=3)
# An endpoint that is due is not due again before half a period has gone.
_LEAST_DISTANCE = PROBE_PERIOD / 2
# What one tick takes on: after an outage of ours everything is due at once.
_CLAIM_LIMIT = 200

_HOUR_SQL = """
    insert into hosts_probehour as kept (
        endpoint_id, hour, probes, answered,
        round_trip_least_seconds, round_trip_most_seconds, round_trip_sum_seconds,
        utilised, cpu_ratio_sum, cpu_ratio_most,
        metered, received_bps_sum, received_bps_most, sent_bps_sum, sent_bps_most, link_bps
    ) values (
        %(endpoint)s, date_trunc('hour', %(at)s::timestamptz, 'UTC'), 1, %(answered)s,
        %(round_trip)s, %(round_trip)s, coalesce(%(round_trip)s::float8, 0),
        %(utilised)s, coalesce(%(cpu_ratio)s::float8, 0), %(cpu_ratio)s,
        %(metered)s, coalesce(%(received_bps)s::float8, 0), %(received_bps)s,
        coalesce(%(sent_bps)s::float8, 0), %(sent_bps)s, %(link_bps)s
    )
    on conflict (endpoint_id, hour) do update set
        probes = kept.probes + 1,
        answered = kept.answered + excluded.answered,
        round_trip_least_seconds = least(kept.round_trip_least_seconds, excluded.round_trip_least_seconds),
        round_trip_most_seconds = greatest(kept.round_trip_most_seconds, excluded.round_trip_most_seconds),
        round_trip_sum_seconds = kept.round_trip_sum_seconds + excluded.round_trip_sum_seconds,
        utilised = kept.utilised + excluded.utilised,
        cpu_ratio_sum = kept.cpu_ratio_sum + excluded.cpu_ratio_sum,
        cpu_ratio_most = greatest(kept.cpu_ratio_most, excluded.cpu_ratio_most),
        metered = kept.metered + excluded.metered,
        received_bps_sum = kept.received_bps_sum + excluded.received_bps_sum,
        received_bps_most = greatest(kept.received_bps_most, excluded.received_bps_most),
        sent_bps_sum = kept.sent_bps_sum + excluded.sent_bps_sum,
        sent_bps_most = greatest(kept.sent_bps_most, excluded.sent_bps_most),
        link_bps = coalesce(excluded.link_bps, kept.link_bps)
"""


@dataclass(frozen=True)
class ProbedLoad:
    """How busy an endpoint's host and its interface were; None is what wasn't told."""

    cpu_ratio: float | None = None
    received_bps: float | None = None
    sent_bps: float | None = None
    link_bps: float | None = None


@dataclass(frozen=True)
class Probe:
    """What a probe found: `state` is AvailabilitySpan.State, `status` Endpoint.Status, the round trip in seconds."""

    endpoint_id: int
    control_address: str
    state: str
    status: str
    reason: str = ""
    round_trip_seconds: float | None = None
    load: ProbedLoad = ProbedLoad()


def probes_send() -> int:
    """Ask a worker to probe the endpoints whose turn it is; return how many. Two ticks at once share them."""
    due = probes_claim()
    if due:
        celery_client.send(PROBE_TASK, due)
    return len(due)


@transaction.atomic
def probes_claim() -> list[int]:
    """Take the endpoints that are due, and set when each is due next: once a minute, spread over it by their ids.

    By the database's clock, and a time too far ahead counts as none: a clock that was set stops no probes.
    """
    is_due = Q(probe_due_at=None) | Q(probe_due_at__lte=Now()) | Q(probe_due_at__gt=Now() + Value(2 * PROBE_PERIOD))
    due = list(
        Endpoint.objects.filter(is_due, archived_at=None, host__is_synthetic=False)
        .annotate(now=Now())
        .order_by(F("probe_due_at").asc(nulls_first=True), "pk")
        .select_for_update(skip_locked=True, no_key=True, of=("self",))
        .only("pk", "probe_due_at")[:_CLAIM_LIMIT]
    )
    # A new endpoint is being checked at this moment: its first probe is that of the coming minute.
    claimed = [endpoint.pk for endpoint in due if endpoint.probe_due_at is not None]
    for endpoint in due:
        endpoint.probe_due_at = _next_turn(endpoint.pk, endpoint.now)
    Endpoint.objects.bulk_update(due, ["probe_due_at"])
    return claimed


@transaction.atomic
def probes_record(*, probes: Sequence[Probe], at: datetime | None = None) -> int:
    """Keep what probes found at `at`, by default now by the database's clock; return how many were kept.

    Not kept: a probe of an endpoint that was archived or moved meanwhile, is being written by somebody else at this
    moment (its next probe is a minute away), or was probed later already. About six queries, however many probes.
    """
    # Skipping what is locked, this never waits while it holds a lock: no deadlock with who writes many endpoints.
    locked = Endpoint.objects.select_for_update(skip_locked=True, no_key=True)
    rows = locked.filter(archived_at=None).in_bulk([probe.endpoint_id for probe in probes])
    at = at or database_now()
    last = _latest_spans(rows)
    current = [
        probe
        for probe in probes
        if probe.endpoint_id in rows
        and rows[probe.endpoint_id].control_address == probe.control_address
        and (probe.endpoint_id not in last or last[probe.endpoint_id].until < at)
    ]
    _write_spans(current, last, at)
    _write_hours(current, at)
    _write_status(current, rows, at)
    return len(current)


def _next_turn(endpoint_id: int, now: datetime) -> datetime:
    earliest = now + _LEAST_DISTANCE
    phase = timedelta(seconds=endpoint_id % int(PROBE_PERIOD.total_seconds()))
    turn = earliest.replace(second=0, microsecond=0) + phase
    return turn if turn >= earliest else turn + PROBE_PERIOD


def _latest_spans(endpoint_ids: Collection[int]) -> dict[int, AvailabilitySpan]:
    spans = AvailabilitySpan.objects.filter(endpoint__in=endpoint_ids)
    return {span.endpoint_id: span for span in spans.order_by("endpoint_id", "-since").distinct("endpoint_id")}


def _write_spans(probes: Sequence[Probe], last: dict[int, AvailabilitySpan], at: datetime) -> None:
    extended, begun = [], []
    for probe in probes:
        span = last.get(probe.endpoint_id)
        if span is not None and span.state == probe.state and at - span.until <= PROBE_GAP:
            span.until, span.why = at, probe.reason
            extended.append(span)
        else:
            values = {"state": probe.state, "since": at, "until": at, **reason_fields("reason", probe.reason)}
            begun.append(AvailabilitySpan(endpoint_id=probe.endpoint_id, **values))
    AvailabilitySpan.objects.bulk_update(extended, ["until", "reason", "reason_data"])
    AvailabilitySpan.objects.bulk_create(begun)


def _write_hours(probes: Sequence[Probe], at: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(_HOUR_SQL, [_hour_values(probe, at) for probe in probes])


def _hour_values(probe: Probe, at: datetime) -> dict[str, datetime | float | None]:
    load = probe.load
    is_metered = load.received_bps is not None and load.sent_bps is not None
    return {
        "endpoint": probe.endpoint_id,
        "at": at,
        "answered": int(probe.state == AvailabilitySpan.State.ANSWERED),
        "round_trip": probe.round_trip_seconds,
        "utilised": int(load.cpu_ratio is not None),
        "cpu_ratio": load.cpu_ratio,
        "metered": int(is_metered),
        "received_bps": load.received_bps if is_metered else None,
        "sent_bps": load.sent_bps if is_metered else None,
        "link_bps": load.link_bps if is_metered else None,
    }


def _write_status(probes: Sequence[Probe], rows: dict[int, Endpoint], at: datetime) -> None:
    for probe in probes:
        row = rows[probe.endpoint_id]
        answers = probe.state == AvailabilitySpan.State.ANSWERED
        is_marked = row.unreachable_since is not None
        if (row.status, row.status_reason, is_marked) == (probe.status, probe.reason, not answers):
            continue
        since = None if answers else Coalesce(F("unreachable_since"), Value(at))
        Endpoint.objects.filter(pk=row.pk).update(
            status=probe.status, unreachable_since=since, **reason_fields("status_reason", probe.reason)
        )
        if answers and row.status != probe.status:
            # It is back, perhaps after a reboot or an upgrade: facts, version and clock are asked for anew.
            celery_client.send_on_commit(CHECK_TASK, row.pk)
