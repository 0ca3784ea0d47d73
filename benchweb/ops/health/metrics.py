"""Tell Prometheus gauges that are read from the database and the broker when it asks."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import redis
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from benchweb.common.rows import fetch, fetch_value
from benchweb.hosts.models import Endpoint
from benchweb.ops.backups.nightly import backup_state, is_nightly
from benchweb.ops.health.heartbeat import Pulse, client, pulse
from benchweb.ops.health.lateness import schedule_lateness
from benchweb.ops.health.storage import database_bytes, free_bytes
from benchweb.regressions.models import LIVE_STATES, Alert
from benchweb.runs.models import OPEN_STATES, State
from benchweb.schedules.models import SKIPPED
from benchweb.site.installation import is_copy

# A scrape that takes longer would meet the next one.
_STATEMENT_TIMEOUT_MILLISECONDS = 2_000
_FINAL_STATES = [state for state in State.values if state not in OPEN_STATES]

# Each is bounded by an index or a small table: a scrape costs the same after years of nights.
_OPEN_SQL = (
    "select state as value, count(*) as number from runs_run where state in ('pending', 'running') group by state"
)
_ENDED_SQL = """
    select state as value, count(*) as number from runs_run
    where finished_at > statement_timestamp() - interval '24 hours' group by state
"""
_OLDEST_SQL = """
    select coalesce(extract(epoch from statement_timestamp() - min(created_at)), 0) from runs_run
    where state = 'pending' and (not_before is null or not_before <= statement_timestamp())
"""
_ENDPOINTS_SQL = """
    select status as value, count(*) as number from hosts_endpoint where archived_at is null group by status
"""
_SLOTS_SQL = """
    select state as value, count(*) as number from schedules_slot
    where at > statement_timestamp() - interval '24 hours' group by state
"""


class _Count(NamedTuple):
    """The number of rows that have a value."""

    value: str
    number: int


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format; the broker's are missing while it is away."""
    registry = CollectorRegistry()
    registry.register(_Scrape())
    return generate_latest(registry)


class _Scrape(Collector):
    """One scrape: nothing is remembered between two."""

    def collect(self) -> Iterable[Metric]:
        """Read everything."""
        return [*_database_metrics(), *_broker_metrics()]

    def describe(self) -> Iterable[Metric]:
        """Nothing: to be registered alone, it need not say what it will collect."""
        return []


@transaction.atomic
def _database_metrics() -> list[Metric]:
    with connection.cursor() as cursor:
        cursor.execute(f"set local statement_timeout = {_STATEMENT_TIMEOUT_MILLISECONDS}")
    return [
        _count_metric("benchweb_runs_open", "Runs that wait or run", "state", OPEN_STATES, _OPEN_SQL),
        _count_metric(
            "benchweb_runs_ended_24h", "Runs that ended in the last 24 hours", "state", _FINAL_STATES, _ENDED_SQL
        ),
        _gauge(
            "benchweb_oldest_waiting_seconds",
            "Age of the oldest run that may start; 0 without",
            float(fetch_value(_OLDEST_SQL)),
        ),
        _count_metric("benchweb_endpoints", "Endpoints in use", "status", Endpoint.Status.values, _ENDPOINTS_SQL),
        _count_metric(
            "benchweb_slots_24h", "Slots of the last 24 hours", "state", [*State.values, SKIPPED], _SLOTS_SQL
        ),
        _lateness(),
        _alerts(),
        _gauge("benchweb_copy", "Whether this is a copy, which measures and sends nothing", int(is_copy())),
        *_storage(),
        *_backups(),
    ]


def _storage() -> Iterable[Metric]:
    """Return what the database takes, and what is left on its disk where that is this machine's."""
    yield _gauge("benchweb_database_bytes", "What the database takes on its disk", database_bytes())
    free = free_bytes()
    if free is not None:
        yield _gauge("benchweb_database_disk_free_bytes", "What is left on the embedded database's disk", free)


def _backups() -> Iterable[Metric]:
    """Return ages of what was made and tested, missing before the first, and whether something failed since."""
    state, now = backup_state(), timezone.now()
    if state.made:
        age = (now - state.made.begun_at).total_seconds()
        yield _gauge("benchweb_backup_age_seconds", "Time since the last backup was made", age)
    if state.tested and state.tested.tested_at:
        age = (now - state.tested.tested_at).total_seconds()
        yield _gauge("benchweb_backup_test_age_seconds", "Time since a backup was last restored and compared", age)
    if state.made or state.failed or is_nightly():
        yield _gauge("benchweb_backup_failed", "Whether the last backup or its test failed", int(state.is_faulty))


def _broker_metrics() -> list[Metric]:
    try:
        with client(settings.REDIS_URL) as broker:
            now = pulse(broker)
    except redis.RedisError:
        return [_broker_up(0)]
    queues = GaugeMetricFamily("benchweb_queue_messages", "Messages that no worker has taken yet", labels=["queue"])
    for name, length in now.queued.items():
        queues.add_metric([name], length)
    if now.write_fault:
        return [_broker_up(0), queues]
    return [_broker_up(1), queues, *_hearts(now)]


def _broker_up(value: float) -> Metric:
    return _gauge("benchweb_broker_up", "Whether the broker answers and can be written", value)


def _hearts(now: Pulse) -> Iterable[Metric]:
    for name, heart in (("worker", now.worker), ("beat", now.beat)):
        yield _gauge(f"benchweb_{name}_up", f"Whether a {name} gave a sign of life lately", int(heart.is_alive))
        if heart.seen_seconds_ago is not None:
            what = f"Time since the last sign of life of a {name}"
            yield _gauge(f"benchweb_{name}_seen_seconds_ago", what, heart.seen_seconds_ago)


def _lateness() -> Metric:
    what = "How long a schedule's next slot is due and not claimed; 0 in time"
    family = GaugeMetricFamily("benchweb_schedule_lateness_seconds", what, labels=["schedule", "name"])
    for row in schedule_lateness():
        family.add_metric([str(row.id), row.name], float(row.seconds))
    return family


def _alerts() -> Metric:
    """Return the alerts that are live; each state and severity has its count, 0 too."""
    rows = Alert.objects.filter(state__in=LIVE_STATES).values("state", "severity").annotate(number=Count("pk"))
    counts = {(row["state"], row["severity"]): row["number"] for row in rows.order_by()}
    family = GaugeMetricFamily("benchweb_alerts_open", "Alerts that have not ended", labels=["state", "severity"])
    for labels in product(LIVE_STATES, Alert.Severity.values):
        family.add_metric(list(map(str, labels)), counts.get(labels, 0))
    return family


def _count_metric(name: str, what: str, label: str, values: Sequence[str], sql: str) -> Metric:
    """Return a count for each of the values, those that no row has too: an alert on a missing one never fires."""
    counts = {row.value: row.number for row in fetch(_Count, sql)}
    family = GaugeMetricFamily(name, what, labels=[label])
    for value in values:
        family.add_metric([value], counts.get(value, 0))
    return family


def _gauge(name: str, what: str, value: float) -> Metric:
    return GaugeMetricFamily(name, what, value=value)
