"""/metrics tells Prometheus what waits and what lives, to who brings a token."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import ApiToken, Grant, Role
from benchweb.accounts.services import TokenLimits, token_create, token_revoke
from benchweb.common.celery_client import QUEUE
from benchweb.hosts.models import Endpoint
from benchweb.ops.health.heartbeat import BEAT_KEY, WORKER_KEY, beat_heart
from benchweb.ops.models import Backup
from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule, Slot
from benchweb.site.installation import copy_mark, notice
from tests.factories import make_alert, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db
KEYS = (BEAT_KEY, WORKER_KEY, f"{BEAT_KEY}:last", f"{WORKER_KEY}:last", QUEUE)


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(django_settings.REDIS_URL)
    client.delete(*KEYS)
    yield client
    client.delete(*KEYS)
    client.close()


def viewer(name: str) -> User:
    user = User.objects.create_user(name)
    Grant.objects.create(user=user, role=Role.VIEWER)
    return user


@pytest.fixture
def bearer() -> dict[str, Any]:
    user = viewer("prometheus")
    token, secret = token_create(user=user, name="scrapes", limits=TokenLimits(scope="metrics"))
    return {"user": user, "token": token, "headers": {"Authorization": f"Bearer {secret}"}}


@pytest.fixture
def scraped(client: Client, bearer: dict[str, Any], broker: redis.Redis) -> Callable[[], dict[str, float]]:
    def scrape() -> dict[str, float]:
        """Return every sample under its name and labels."""
        response = client.get("/metrics", headers=bearer["headers"])
        assert response.status_code == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        families = text_string_to_metric_families(response.content.decode())
        return {
            " ".join([sample.name, *(f"{key}={value}" for key, value in sorted(sample.labels.items()))]): sample.value
            for family in families
            for sample in family.samples
        }

    return scrape


def test_it_needs_the_token_of_a_user(client: Client, bearer: dict[str, Any], broker: redis.Redis) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}):
        response = client.get("/metrics", headers=headers)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
        assert b"benchweb_" not in response.content
    assert client.post("/metrics", headers=bearer["headers"]).status_code == 405
    token_revoke(user=bearer["user"], token_id=bearer["token"].pk)
    assert client.get("/metrics", headers=bearer["headers"]).status_code == 401


def test_it_needs_the_scope_of_metrics_or_an_admin_and_notes_who_is_refused_once(
    client: Client, broker: redis.Redis, one_window: None
) -> None:
    admin, reader = User.objects.create_superuser("root"), viewer("vera")
    allowed = {}
    for user in (admin, reader):
        for scope in ApiToken.Scope.values:
            _, secret = token_create(user=user, name="scrapes", limits=TokenLimits(scope=scope))
            answers = [client.get("/metrics", headers={"Authorization": f"Bearer {secret}"}) for _ in range(3)]
            allowed[user.username, scope] = answers[0].status_code
            assert (b"benchweb_" in answers[0].content) is (answers[0].status_code == 200)
    assert {key for key, status in allowed.items() if status == 200} == {
        *(("root", "metrics"), ("vera", "metrics"), ("root", "admin"))
    }
    assert set(allowed.values()) == {200, 403}
    refused = AuditEntry.objects.filter(action="refused")
    assert len(refused) == list(allowed.values()).count(403)
    assert "the scope metrics" in refused[0].object_name


def test_every_state_has_a_count_also_where_there_is_none(scraped: Callable[[], dict[str, float]]) -> None:
    found = scraped()
    assert {key: value for key, value in found.items() if key.startswith("benchweb_runs_")} == {
        "benchweb_runs_open state=pending": 0,
        "benchweb_runs_open state=running": 0,
        "benchweb_runs_ended_24h state=finished": 0,
        "benchweb_runs_ended_24h state=failed": 0,
        "benchweb_runs_ended_24h state=cancelled": 0,
        "benchweb_runs_ended_24h state=missed": 0,
        "benchweb_runs_ended_24h state=nonstart": 0,
    }
    assert found["benchweb_oldest_waiting_seconds"] == 0


def test_runs_are_counted_and_the_oldest_that_may_start_is_told(scraped: Callable[[], dict[str, float]]) -> None:
    now = timezone.now()
    waiting, later, running, ended, old = (make_run() for _ in range(5))
    Run.objects.filter(pk=waiting.pk).update(created_at=now - timedelta(seconds=50))
    Run.objects.filter(pk=later.pk).update(created_at=now - timedelta(hours=2), not_before=now + timedelta(minutes=1))
    Run.objects.filter(pk=running.pk).update(state="running", created_at=now - timedelta(hours=9))
    Run.objects.filter(pk=ended.pk).update(state="failed", finished_at=now - timedelta(hours=23))
    Run.objects.filter(pk=old.pk).update(state="failed", finished_at=now - timedelta(hours=25))
    found = scraped()
    assert found["benchweb_runs_open state=pending"] == 2
    assert found["benchweb_runs_open state=running"] == 1
    assert found["benchweb_runs_ended_24h state=failed"] == 1
    assert 50 <= found["benchweb_oldest_waiting_seconds"] < 110


def test_endpoints_are_counted_by_status(scraped: Callable[[], dict[str, float]]) -> None:
    run = make_run()
    Endpoint.objects.filter(pk=run.pair.source_id).update(status="answered")
    found = scraped()
    assert found["benchweb_endpoints status=answered"] == 1
    assert found["benchweb_endpoints status=unknown"] == 1
    assert found["benchweb_endpoints status=unreachable"] == 0


def test_live_alerts_are_counted_by_state_and_severity(scraped: Callable[[], dict[str, float]]) -> None:
    make_alert(pair=make_pair())
    make_alert("recovered", pair=make_pair())
    found = scraped()
    assert found["benchweb_alerts_open severity=warning state=open"] == 1
    assert found["benchweb_alerts_open severity=critical state=acknowledged"] == 0
    assert sum(value for key, value in found.items() if key.startswith("benchweb_alerts_open")) == 1


def test_a_late_schedule_is_named_and_slots_are_counted(scraped: Callable[[], dict[str, float]]) -> None:
    now = timezone.now()
    values = {"plan": make_plan(), "target": {"pairs": []}, "cron": "0 2 * * *", "starts_at": now}
    late = Schedule.objects.create(name='the "nightly"', next_at=now - timedelta(seconds=75), **values)
    Schedule.objects.create(name="in time", next_at=now + timedelta(hours=1), **values)
    Schedule.objects.create(name="paused", next_at=now - timedelta(hours=1), paused_at=now, **values)
    Slot.objects.create(schedule=late, at=now - timedelta(hours=1), state="nonstart", claimed_at=now)
    Slot.objects.create(schedule=late, at=now - timedelta(hours=30), state="nonstart", claimed_at=now)
    found = scraped()
    lateness = {key: value for key, value in found.items() if key.startswith("benchweb_schedule_lateness")}
    assert len(lateness) == 2
    assert 75 <= lateness[f'benchweb_schedule_lateness_seconds name=the "nightly" schedule={late.pk}'] < 135
    assert min(lateness.values()) == 0
    assert found["benchweb_slots_24h state=nonstart"] == 1


def test_life_and_queue_come_from_the_broker(scraped: Callable[[], dict[str, float]], broker: redis.Redis) -> None:
    found = scraped()
    assert (found["benchweb_worker_up"], found["benchweb_beat_up"], found["benchweb_broker_up"]) == (0, 0, 1)
    assert "benchweb_worker_seen_seconds_ago" not in found
    beat_heart(broker, WORKER_KEY)
    beat_heart(broker, BEAT_KEY)
    broker.delete(BEAT_KEY, QUEUE)
    broker.rpush(QUEUE, b"{}", b"{}")
    found = scraped()
    assert (found["benchweb_worker_up"], found["benchweb_beat_up"]) == (1, 0)
    assert 0 <= found["benchweb_worker_seen_seconds_ago"] < 60
    assert 0 <= found["benchweb_beat_seen_seconds_ago"] < 60
    assert found[f"benchweb_queue_messages queue={QUEUE}"] == 2


def test_a_broker_that_is_away_leaves_the_databases_figures(
    scraped: Callable[[], dict[str, float]], settings: Settings
) -> None:
    settings.REDIS_URL = "unix:///nonexistent/valkey.sock"
    found = scraped()
    assert found["benchweb_broker_up"] == 0
    assert "benchweb_worker_up" not in found
    assert found["benchweb_runs_open state=pending"] == 0


def test_a_scrape_costs_few_queries(
    client: Client, bearer: dict[str, Any], broker: redis.Redis, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        make_run()
    client.get("/metrics", headers=bearer["headers"])
    # The token, a savepoint and its release, the time-out, and nine figures.
    with django_assert_max_num_queries(13):
        client.get("/metrics", headers=bearer["headers"])


def test_backups_have_their_ages_and_a_copy_says_so(scraped: Callable[[], dict[str, float]]) -> None:
    before = scraped()
    assert before["benchweb_copy"] == 0
    assert not [name for name in before if name.startswith("benchweb_backup")]
    now = timezone.now()
    Backup.objects.create(name="a.zip", begun_at=now - timedelta(days=2), tested_at=now - timedelta(days=1))
    Backup.objects.create(name="b.zip", begun_at=now - timedelta(hours=1))
    samples = scraped()
    assert samples["benchweb_backup_age_seconds"] == pytest.approx(3_600, abs=60)
    assert samples["benchweb_backup_test_age_seconds"] == pytest.approx(86_400, abs=60)
    assert samples["benchweb_backup_failed"] == 0
    Backup.objects.create(begun_at=now, fault="There is no room left")
    copy_mark(of="elsewhere", made_at=None)
    notice.read_now()
    samples = scraped()
    assert samples["benchweb_backup_age_seconds"] == pytest.approx(3_600, abs=60)
    assert (samples["benchweb_backup_failed"], samples["benchweb_copy"]) == (1, 1)
