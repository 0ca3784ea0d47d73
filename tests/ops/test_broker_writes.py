"""A broker that answers and can't be written: it is named, nobody else is blamed, and all goes on by itself."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import Settings

from benchweb.accounts import throttle
from benchweb.common import celery_client
from benchweb.ops.health.heartbeat import BEAT_KEY, QUEUES, WORKER_KEY, beat_heart
from benchweb.ops.health.metrics import exposition
from benchweb.ops.running import processes, valkey
from benchweb.runs import live
from tests.processes import begun, said_by, stopped

PATIENCE_SECONDS = 120
READ_ONLY = "You can't write against a read only replica."
FULL = "command not allowed when used memory > 'maxmemory'."


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    """Return the tests' broker, which is as before afterwards."""
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        yield client
        client.replicaof("NO", "ONE")
        client.config_set("maxmemory", valkey.MAX_MEMORY)
        client.delete(BEAT_KEY, WORKER_KEY)


@pytest.fixture(params=[READ_ONLY, FULL])
def refusal(request: pytest.FixtureRequest, broker: redis.Redis) -> str:
    """Make the broker refuse every write, and return what it says."""
    beat_heart(broker, WORKER_KEY)
    refuse(broker, request.param)
    return str(request.param)


def refuse(broker: redis.Redis, reason: str) -> None:
    if reason == READ_ONLY:
        broker.replicaof("127.0.0.1", "1")
    else:
        broker.config_set("maxmemory", "1")


@pytest.fixture
def database(settings: Settings, environment_of_test: dict[str, str]) -> None:
    """Let the check's own connection find the test's database."""
    settings.DATABASE_URL = environment_of_test["BENCHWEB_DATABASE_URL"]


def test_the_broker_is_named_and_neither_worker_nor_beat_is_blamed(
    client: Client, database: None, refusal: str
) -> None:
    for path in ("/readyz", "/healthz"):
        response = client.get(path)
        answer = response.json()
        assert response.status_code == 503
        assert answer["broker"] == {"ready": False, "reason": f"the broker can't be written: {refusal}"}
    for name in ("worker", "beat"):
        assert answer[name]["reason"] == "the broker that carries its heartbeat can't be written"
    metrics = exposition().decode()
    assert "benchweb_broker_up 0.0" in metrics
    assert "benchweb_worker_up" not in metrics


def test_a_broker_whose_disk_is_full_is_named(
    client: Client, database: None, settings: Settings, small_disk: Callable[[str], Path]
) -> None:
    disk = small_disk("64k")
    (disk / "filler").write_bytes(b"\0" * 65_536)
    command = [*valkey.command(disk), "--save", "3600 1", "--stop-writes-on-bgsave-error", "yes"]
    server = processes.spawn(command, output=subprocess.DEVNULL)
    try:
        assert processes.wait_until(lambda: valkey.is_ready(disk), timeout_seconds=PATIENCE_SECONDS)
        settings.REDIS_URL = valkey.url(disk)
        assert client.get("/readyz").status_code == 200
        with redis.Redis.from_url(settings.REDIS_URL) as own:
            own.bgsave()
            failed = processes.wait_until(
                lambda: own.info("persistence")["rdb_last_bgsave_status"] == "err", timeout_seconds=PATIENCE_SECONDS
            )
            assert failed
        reason = client.get("/readyz").json()["broker"]["reason"]
    finally:
        processes.stop(server, signal_number=15, patience_seconds=5)
    assert reason.startswith("the broker can't be written: MISCONF ")


def test_wake_ups_live_progress_and_counters_go_without_it_and_say_so_once(
    refusal: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(celery_client, "_told_until", {})
    for _ in range(20):
        assert celery_client.send("workers.tasks.tick") is False
        live.publish_interval(1, {"type": "interval"})
        monkeypatch.setattr(throttle, "_local_until", 0.0)
        throttle.login_failed(throttle.begin_login("ann", "192.0.2.1"))
    told = [record.getMessage() for record in caplog.records if "192.0.2.1" not in record.getMessage()]
    assert [text.partition(":")[0] for text in told] == [
        "Wake-ups wait for the next tick, the broker can't be used",
        "live progress of runs is lost",
        "log-ins are counted by this process alone, the broker can't be used",
    ]
    assert all(refusal in text for text in told)


@pytest.mark.parametrize("reason", [READ_ONLY, FULL])
def test_worker_and_beat_outlive_it_with_few_lines_and_go_on_by_themselves(
    worker: Callable[[], "subprocess.Popen[bytes]"], broker: redis.Redis, reason: str
) -> None:
    process = worker()
    until(lambda: bool(broker.exists(WORKER_KEY) and broker.exists(BEAT_KEY)))
    lines = said_by(process).count("\n")
    refuse(broker, reason)
    # Signs of life end, and with them whatever else writes.
    until(lambda: not broker.exists(WORKER_KEY) and not broker.exists(BEAT_KEY))
    assert process.poll() is None, said_by(process)
    assert said_by(process).count("\n") - lines < 30
    assert "Traceback" not in said_by(process)
    broker.replicaof("NO", "ONE")
    broker.config_set("maxmemory", valkey.MAX_MEMORY)
    until(lambda: bool(broker.exists(WORKER_KEY) and broker.exists(BEAT_KEY)))
    taken = said_by(process).count("Task workers.tasks.tick[")
    until(lambda: said_by(process).count("Task workers.tasks.tick[") > taken + 2)
    assert process.poll() is None


def test_a_beat_that_can_send_nothing_says_so_in_one_line(
    environment_of_test: dict[str, str], broker: redis.Redis
) -> None:
    command = [sys.executable, "-m", "celery", "-A", "workers.beat", "beat", "--loglevel", "WARNING", "--pidfile", ""]
    process = begun(command, {**environment_of_test, "DJANGO_SETTINGS_MODULE": ""}, ready=b"is starting")()
    try:
        until(lambda: bool(broker.exists(BEAT_KEY)))
        broker.delete(*QUEUES)
        refuse(broker, FULL)
        # It has tried for ten seconds then, once a second.
        until(lambda: not broker.exists(BEAT_KEY))
        said = said_by(process)
    finally:
        stopped(process)
    assert said.count("No tick is sent, the broker can't be used: ") == 1
    assert "Traceback" not in said


def until(condition: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
