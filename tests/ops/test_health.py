"""/livez, /readyz and /healthz say which part isn't ready, and answer in time whatever is broken."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import redis
from django.conf import settings as django_settings
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb.common.celery_client import QUEUE
from benchweb.hosts.models import Endpoint, Host
from benchweb.ops.health import readiness
from benchweb.ops.health.heartbeat import BEAT_KEY, WORKER_KEY, beat_heart
from benchweb.runs.models import Run
from tests.factories import make_run

KEYS = (BEAT_KEY, WORKER_KEY, f"{BEAT_KEY}:last", f"{WORKER_KEY}:last")


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(django_settings.REDIS_URL)
    client.delete(*KEYS)
    yield client
    client.delete(*KEYS)
    client.close()


@pytest.fixture
def database(settings: Settings, environment_of_test: dict[str, str]) -> None:
    """Let the check's own connection find the test's database."""
    settings.DATABASE_URL = environment_of_test["BENCHWEB_DATABASE_URL"]


@pytest.fixture
def alive(broker: redis.Redis, database: None) -> None:
    beat_heart(broker, WORKER_KEY)
    beat_heart(broker, BEAT_KEY)


def not_ready(client: Client, path: str = "/healthz") -> dict[str, str]:
    response = client.get(path)
    assert response.status_code == 503
    answer = response.json()
    assert answer["ready"] is False
    return {name: part["reason"] for name, part in answer.items() if name != "ready" and not part["ready"]}


def test_all_parts_ready_is_200(client: Client, alive: None) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert {name: part["ready"] for name, part in response.json().items() if name != "ready"} == {
        "database": True,
        "broker": True,
        "worker": True,
        "beat": True,
        "engines": True,
        "queue": True,
    }


def test_the_queue_and_the_signs_of_life_are_told_in_numbers(client: Client, alive: None, broker: redis.Redis) -> None:
    run = make_run()
    # Making it has sent wake-ups.
    broker.delete(QUEUE)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(seconds=90))
    broker.rpush(QUEUE, b"{}")
    answer = client.get("/healthz").json()
    broker.delete(QUEUE)
    assert 90 <= answer["queue"].pop("oldest_waiting_seconds") < 150
    assert answer["queue"] == {"ready": True, "runs_waiting": 1, "runs_running": 0, "messages": 1}
    assert 0 <= answer["worker"]["seen_seconds_ago"] < 60
    assert 0 <= answer["beat"]["seen_seconds_ago"] < 60


def test_a_worker_that_fell_silent_is_told_with_how_long_ago(client: Client, alive: None, broker: redis.Redis) -> None:
    broker.delete(WORKER_KEY)
    broker.pexpire(f"{WORKER_KEY}:last", (30 * 86_400 - 340) * 1000)
    worker = client.get("/healthz").json()["worker"]
    assert worker["ready"] is False
    assert 340 <= worker["seen_seconds_ago"] < 400


def test_a_silent_worker_is_named(client: Client, alive: None, broker: redis.Redis) -> None:
    broker.delete(WORKER_KEY)
    assert not_ready(client) == {"worker": "no sign of life from a worker for 10 s"}


def test_a_silent_beat_is_named(client: Client, alive: None, broker: redis.Redis) -> None:
    broker.delete(BEAT_KEY)
    assert not_ready(client) == {"beat": "no sign of life from a beat for 10 s"}


def test_a_sign_of_life_is_forgotten_after_10_seconds(alive: None, broker: redis.Redis) -> None:
    assert 9_000 < broker.pttl(WORKER_KEY) <= 10_000
    assert 9_000 < broker.pttl(BEAT_KEY) <= 10_000


def test_a_broker_that_is_away_is_named_and_takes_worker_and_beat_along(
    client: Client, alive: None, settings: Settings
) -> None:
    settings.REDIS_URL = "unix:///nonexistent/valkey.sock"
    reasons = not_ready(client)
    assert set(reasons) == {"broker", "worker", "beat"}
    assert "/nonexistent/valkey.sock" in reasons["broker"]


def test_a_database_that_is_away_is_named(client: Client, alive: None, settings: Settings) -> None:
    settings.DATABASE_URL = "postgresql://benchweb@/benchweb?host=/nonexistent"
    reasons = not_ready(client)
    assert set(reasons) == {"database", "engines"}
    assert "/nonexistent" in reasons["database"]


def test_a_broker_that_never_answers_delays_the_answer_by_its_time_out_only(
    client: Client, alive: None, settings: Settings, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        settings.REDIS_URL = f"unix://{tmp_path}/silent"
        started_at = time.monotonic()
        assert "broker" in not_ready(client)
        assert time.monotonic() - started_at < 30


def test_the_demo_is_not_ready_before_its_data_and_engines_were_there_once(
    client: Client, alive: None, settings: Settings, tmp_path: Path
) -> None:
    settings.DEMO = True
    settings.BENCHWEB_HOME = tmp_path
    assert not_ready(client) == {"engines": "the demo's engines are starting"}
    (tmp_path / "stamps").mkdir()
    (tmp_path / "stamps" / "demo").write_text("done")
    assert client.get("/healthz").status_code == 200


def test_engines_that_do_not_answer_are_reported_but_do_not_gate(client: Client, alive: None) -> None:
    host = Host.objects.create(name="a")
    Endpoint.objects.create(host=host, control_address="192.0.2.1:7410", status=Endpoint.Status.UNREACHABLE)
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json()["engines"]["endpoints"] == {"unreachable": 1}


def test_health_needs_no_log_in_and_takes_no_post(client: Client, alive: None) -> None:
    assert client.post("/healthz").status_code == 405


def test_a_process_that_answers_is_live_whatever_is_broken(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATABASE_URL = "postgresql://benchweb@/benchweb?host=/nonexistent"
    settings.REDIS_URL = "unix:///nonexistent/valkey.sock"
    monkeypatch.setattr(psycopg, "connect", None)
    answer = client.get("/livez")
    assert (answer.status_code, answer.json()) == (200, {"live": True})
    assert answer.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert client.post("/livez").status_code == 405


def test_readiness_asks_the_database_and_the_broker_only(client: Client, broker: redis.Redis, database: None) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "database": {"ready": True}, "broker": {"ready": True}}
    assert client.get("/healthz").status_code == 503


def test_without_its_broker_or_its_database_it_is_not_ready(client: Client, alive: None, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nonexistent/valkey.sock"
    assert set(not_ready(client, "/readyz")) == {"broker"}
    settings.DATABASE_URL = "postgresql://benchweb@/benchweb?host=/nonexistent"
    assert set(not_ready(client, "/readyz")) == {"broker", "database"}


@pytest.fixture
def changed(alive: None, settings: Settings) -> Callable[[str, str], AbstractContextManager[None]]:
    """Return a context in which new connections to the test's database have another setting."""

    @contextlib.contextmanager
    def change(name: str, value: str) -> Iterator[None]:
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
            database = connection.info.dbname
            connection.execute(f'alter database "{database}" set {name} = {value}')
            try:
                yield
            finally:
                connection.execute(f'alter database "{database}" reset {name}')

    return change


@pytest.mark.parametrize("path", ["/readyz", "/healthz"])
def test_a_database_that_is_read_only_is_not_ready(
    client: Client, alive: None, changed: Callable[[str, str], AbstractContextManager[None]], path: str
) -> None:
    assert client.get(path).status_code == 200
    with changed("default_transaction_read_only", "on"):
        assert not_ready(client, path) == {"database": "the database can't be written: it is read-only"}


@pytest.fixture
def full_disk(
    small_disk: Callable[[str], Path], changed: Callable[[str, str], AbstractContextManager[None]], settings: Settings
) -> Iterator[None]:
    """Have what the check writes go to a disk without room: a file system of 64 kB."""
    readiness._last.clear()
    place = small_disk("64k")
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        connection.execute(f"create tablespace small location '{place}'")
    with changed("temp_tablespaces", "small"):
        yield
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        connection.execute("drop tablespace small")


@pytest.mark.parametrize("path", ["/readyz", "/healthz"])
def test_a_database_whose_disk_is_full_is_not_ready(client: Client, full_disk: None, path: str) -> None:
    reason = not_ready(client, path)["database"]
    assert reason.startswith("the database can't be written: could not extend file")
    assert reason.endswith("No space left on device")
