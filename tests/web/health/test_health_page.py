"""The page of the installation's health: for admins, of what waits, grows and fails."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace

import pytest
import redis
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.models import Grant, Role
from benchweb.hosts.models import Endpoint
from benchweb.notifications.models import Delivery
from benchweb.ops.health import slow_answers
from benchweb.ops.health.heartbeat import BEAT_KEY, QUEUES, WORKER_KEY, beat_heart
from benchweb.ops.models import Backup, Removal, StorageSample
from benchweb.schedules.models import Schedule
from tests.factories import make_channel, make_endpoint, make_schedule
from tests.responses import Response

pytestmark = pytest.mark.django_db
# Also what other tests have sent to the queues.
KEYS = (BEAT_KEY, WORKER_KEY, f"{BEAT_KEY}:last", f"{WORKER_KEY}:last", *QUEUES)


@pytest.fixture
def by_admin(ada: User, signed_in: Client) -> Client:
    Grant.objects.create(user=ada, role=Role.ADMIN)
    return signed_in


@pytest.fixture(autouse=True)
def database(settings: Settings, environment_of_test: dict[str, str]) -> None:
    """Let the check's own connection find the test's database."""
    settings.DATABASE_URL = environment_of_test["BENCHWEB_DATABASE_URL"]


@pytest.fixture
def broker() -> Iterator["redis.Redis"]:
    client = redis.Redis.from_url(django_settings.REDIS_URL)
    client.delete(*KEYS)
    yield client
    client.delete(*KEYS)
    client.close()


def text_of(answer: Response) -> str:
    """Return what stands on a page, without its tags."""
    text = answer.content.decode().partition('id="content"')[2]
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_it_says_which_part_is_not_ready_and_why(by_admin: Client, broker: "redis.Redis") -> None:
    beat_heart(broker, WORKER_KEY)
    page = text_of(by_admin.get("/health"))
    assert "Not ready: Beat" in page
    assert "No sign of life for 10 s." in page
    beat_heart(broker, BEAT_KEY)
    page = text_of(by_admin.get("/health"))
    assert "Database, broker, worker and beat are ready." in page
    assert "Runs waiting 0 Runs running 0 Tasks no worker has taken 0" in page


def test_what_a_part_that_is_not_ready_knows_is_missing_and_no_zero(by_admin: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    page = text_of(by_admin.get("/health"))
    assert "Not ready: Broker, Worker, Beat" in page
    assert "Unknown: the broker that carries its signs of life isn't ready." in page.replace("&#x27;", "'")
    assert "Runs waiting 0 Runs running 0 Tasks no worker has taken –" in page


def test_it_tells_what_is_late_grows_fails_and_is_being_deleted(
    by_admin: Client, broker: "redis.Redis", django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    late, _ = make_schedule(name="nightly mesh"), make_schedule(name="in time")
    Schedule.objects.update(next_at=now + timedelta(hours=1))
    Schedule.objects.filter(pk=late.pk).update(next_at=now - timedelta(hours=3))
    for days, size in ((10, 10 * 2**30), (0, 20 * 2**30)):
        StorageSample.objects.create(day=now.date() - timedelta(days=days), database_bytes=size)
    Backup.objects.create(begun_at=now, ended_at=now, fault="No room is left in the folder.")
    Removal.objects.create(what="host", of=1, name="old-host", requested_at=now, runs=1200)
    channel = make_channel("night team")
    fields = {"channel": channel, "payload": {}, "created_at": now}
    Delivery.objects.create(message_id="1", event_id="1", state="failed", next_attempt_at=now, **fields)
    Delivery.objects.create(message_id="2", event_id="2", state="given_up", finished_at=now, **fields)
    Delivery.objects.create(
        message_id="3", event_id="3", state="given_up", finished_at=now - timedelta(days=2), **fields
    )
    Endpoint.objects.filter(pk=make_endpoint().pk).update(engine_version="0.1.0")
    with django_assert_max_num_queries(12):
        page = text_of(by_admin.get("/health"))
    for words in (
        "nightly mesh 3 h",
        "1.00 GiB more a day over the last 10 days",
        "No room is left in the folder.",
        "old-host",
        "1,200 runs gone",
        "night team 1 to be tried again, 1 given up in the last 24 hours",
        "0.1.0 on 1 host",
    ):
        assert words in page, words
    assert "in time" not in page


def test_only_admins_see_it(ada: User, signed_in: Client) -> None:
    Grant.objects.create(user=ada, role=Role.EDITOR)
    assert signed_in.get("/health").status_code == 403


def test_pages_that_were_slow_are_listed_by_their_pattern(
    by_admin: Client, broker: "redis.Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.delete(slow_answers.KEY)
    assert "Slow pages answers that took a second or more, in the last 24 hours none" in text_of(
        by_admin.get("/health")
    )
    host = make_endpoint().host
    with monkeypatch.context() as slow:
        slow.setattr(slow_answers, "SLOW_SECONDS", 0.0)
        for _ in range(2):
            by_admin.get(f"/hosts/{host.pk}?view=secret")
        by_admin.get("/no-such-page")
    slow_answers.slow_answer_add("GET /matrix", 75.0)
    # Of yesterday.
    broker.rpush(slow_answers.KEY, f"{time.time() - 90_000:.3f} 99.000 GET /compare")
    page = text_of(by_admin.get("/health"))
    assert "GET /matrix 1 1 min 15 s" in page
    assert "GET /hosts/&lt;int:host_id&gt; 2 " in page
    for words in ("secret", "no-such-page", "/compare"):
        assert words not in page.partition("Slow pages")[2].partition("Backups")[0]


def test_slow_pages_are_unknown_while_the_broker_is_away_and_nothing_fails(
    by_admin: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(slow_answers, "SLOW_SECONDS", 0.0)
    answer = by_admin.get("/health")
    assert answer.status_code == 200
    assert "Unknown: the broker that keeps them isn't ready." in text_of(answer).replace("&#x27;", "'")


def test_a_disk_that_is_short_says_so(by_admin: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"free": 50 * 2**30}
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=left["free"], total=100 * 2**30))
    settings.BACKUP_DIR = str(settings.BENCHWEB_HOME)
    page = text_of(by_admin.get("/health"))
    assert "logs, backups: 50.0 GiB left of 100 GiB Intervals" in page
    left["free"] = 4 * 2**30
    page = text_of(by_admin.get("/health"))
    assert "4.00 GiB left of 100 GiB short: make room, or move a part elsewhere" in page
