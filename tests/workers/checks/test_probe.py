"""Probes of real engines: answered, engine down, unreachable, each told from the others."""

import errno
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from benchweb.hosts.models import AvailabilitySpan, Endpoint, ProbeHour
from benchweb.hosts.probing.probes import ProbedLoad
from benchweb.hosts.services import archive
from tests.factories import make_endpoint
from tests.processes import Engine, killed
from tests.workers.engine_client.broken_engine import Answer, BrokenEngine, answer_bytes, answer_json
from workers.checks import probe as probing
from workers.engine_client import EngineUnreachable, client
from workers.engines.connections import client_for

pytestmark = pytest.mark.django_db(transaction=True)


def endpoint_of(engine: Engine | BrokenEngine, **fields: str) -> Endpoint:
    control = engine.control if isinstance(engine, Engine) else engine.address
    token = engine.token if isinstance(engine, Engine) else "t"
    values = {"token": token, "fingerprint": engine.fingerprint} | fields
    return known(make_endpoint(control_address=control, **values))


def known(endpoint: Endpoint) -> Endpoint:
    """Let the endpoint's engine have answered at its address before: all is told of it then."""
    endpoint.answered_address = endpoint.control_address
    endpoint.save(update_fields=["answered_address"])
    return endpoint


def probed(endpoint: Endpoint) -> AvailabilitySpan:
    probing.probe([endpoint.pk])
    endpoint.refresh_from_db()
    return AvailabilitySpan.objects.filter(endpoint=endpoint).latest("since")


def test_a_thread_that_probed_gives_its_database_connection_back(
    engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    connections, real = [], probing._safely_probed

    def observed(endpoint: Endpoint) -> object:
        try:
            return real(endpoint)
        finally:
            connections.append(connection.connection)

    monkeypatch.setattr(probing, "_safely_probed", observed)
    # Whose address it is, the database tells: no loopback, and another than control's.
    endpoint = endpoint_of(engine(), data_address="192.0.2.1")
    assert probed(endpoint).state == "answered"
    assert connections == [None]


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Callable[[dict[str, Answer]], BrokenEngine]]:
    engines: list[BrokenEngine] = []

    def make(answers: dict[str, Answer]) -> BrokenEngine:
        engines.append(BrokenEngine(tmp_path, answers))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def dropping() -> Iterator[str]:
    """Return an address whose handshakes the kernel drops: nobody accepts, and the queue is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(server.getsockname())
        yield f"127.0.0.1:{server.getsockname()[1]}"
        for each in waiting:
            each.close()


def test_an_engine_that_answers_is_answered_with_its_response_time_and_its_hosts_load(
    engine: Callable[..., Engine],
) -> None:
    running = engine()
    endpoint = endpoint_of(running)
    deadline = time.monotonic() + 120
    while not ProbeHour.objects.filter(endpoint=endpoint, metered__gt=0).exists():
        assert time.monotonic() < deadline, "the engine's sampler never told a rate"
        assert probed(endpoint).state == "answered"
        time.sleep(0.5)
    assert (endpoint.status, endpoint.status_reason, endpoint.unreachable_since) == ("answered", "", None)
    hour = ProbeHour.objects.get(endpoint=endpoint)
    assert hour.probes == hour.answered
    assert hour.round_trip_least_seconds is not None and hour.round_trip_most_seconds
    assert 0 < hour.round_trip_least_seconds <= hour.round_trip_most_seconds < 5
    assert hour.cpu_ratio_most is not None and hour.received_bps_most
    assert 0 <= hour.cpu_ratio_most <= 1
    assert hour.received_bps_most > 0
    # The loopback has no speed: the bandwidth left is missing.
    assert hour.link_bps is None


def test_an_engine_that_is_killed_is_down_and_answers_again_when_it_is_back(engine: Callable[..., Engine]) -> None:
    running = engine("one")
    endpoint = endpoint_of(running)
    assert probed(endpoint).state == "answered"
    killed(running.process)
    down = probed(endpoint)
    assert down.state == "engine_down"
    assert "Connection refused" in down.reason
    assert (endpoint.status, endpoint.status_reason) == ("unreachable", down.reason)
    assert endpoint.unreachable_since == down.since
    back = engine("one")
    Endpoint.objects.filter(pk=endpoint.pk).update(control_address=back.control)
    endpoint.refresh_from_db()
    # The state folder is the same, and with it the certificate; the token is a new one.
    assert (probed(endpoint).state, endpoint.status) == ("engine_down", "refused")
    assert "refused the token" in endpoint.status_reason
    Endpoint.objects.filter(pk=endpoint.pk).update(token_encrypted=endpoint_of(back).token_encrypted)
    assert probed(endpoint).state == "answered"
    assert Endpoint.objects.get(pk=endpoint.pk).unreachable_since is None


def test_an_engine_that_hangs_is_down_for_its_machine_still_takes_the_connection(
    engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.5)
    running = engine()
    endpoint = endpoint_of(running)
    os.kill(running.process.pid, signal.SIGSTOP)
    try:
        assert probed(endpoint).state == "engine_down"
    finally:
        os.kill(running.process.pid, signal.SIGCONT)


def test_an_address_whose_packets_are_dropped_is_unreachable(monkeypatch: pytest.MonkeyPatch, dropping: str) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.5)
    endpoint = known(make_endpoint(control_address=dropping, token="t", fingerprint="sha256:" + "0" * 64))
    found = probed(endpoint)
    assert (found.state, endpoint.status) == ("unreachable", "unreachable")
    assert "timed out" in found.reason
    assert endpoint.unreachable_since == found.since
    never_pinned = make_endpoint(control_address=dropping)
    assert (probed(never_pinned).state, never_pinned.status) == ("unreachable", "unreachable")


@pytest.mark.parametrize(
    ("number", "state"),
    [(errno.EHOSTUNREACH, "unreachable"), (errno.ENETUNREACH, "unreachable"), (errno.ECONNREFUSED, "engine_down")],
)
def test_what_the_network_says_tells_a_closed_port_from_a_machine_that_is_away(
    monkeypatch: pytest.MonkeyPatch, number: int, state: str
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    endpoint = make_endpoint(token="t", fingerprint="sha256:" + "0" * 64)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    with client_for(endpoint) as asked, pytest.raises(EngineUnreachable) as caught:
        asked.about()
    assert probing._verdict(caught.value) == (state, "unreachable")


def test_a_name_that_is_nobodys_is_unreachable() -> None:
    endpoint = make_endpoint(control_address="nobody.invalid:7410", token="t", fingerprint="sha256:" + "0" * 64)
    assert probed(endpoint).state == "unreachable"


def test_another_certificate_is_no_engine_of_ours(engine: Callable[..., Engine]) -> None:
    endpoint = endpoint_of(engine(), fingerprint="sha256:" + "0" * 64)
    assert (probed(endpoint).state, endpoint.status) == ("engine_down", "refused")
    assert "another certificate" in endpoint.status_reason


def test_garbage_is_no_engine(broken: Callable[[dict[str, Answer]], BrokenEngine]) -> None:
    endpoint = endpoint_of(broken({"GET /v1/about": answer_bytes(b"<html>hello</html>")}))
    assert (probed(endpoint).state, endpoint.status) == ("engine_down", "refused")
    assert "Is that the engine's port?" in endpoint.status_reason


def test_an_engine_of_before_the_call_answers_and_tells_no_load(
    broken: Callable[[dict[str, Answer]], BrokenEngine],
) -> None:
    missing = answer_json({"error": {"code": "not_found", "message": "there is no GET /v1/host"}}, status=404)
    endpoint = endpoint_of(broken({"GET /v1/host": missing}))
    assert probed(endpoint).state == "answered"
    hour = ProbeHour.objects.get()
    assert (hour.answered, hour.utilised, hour.metered) == (1, 0, 0)


def test_an_engine_at_its_limits_answers(broken: Callable[[dict[str, Answer]], BrokenEngine]) -> None:
    full = answer_json({"error": {"code": "limit", "message": "too many connections"}}, status=429)
    endpoint = endpoint_of(broken({"GET /v1/about": full}))
    assert (probed(endpoint).state, endpoint.status) == ("answered", "answered")


@pytest.mark.parametrize("ratio", [-0.5, "much", [1]])
def test_a_load_that_is_none_is_garbage_and_kept_nowhere(
    broken: Callable[[dict[str, Answer]], BrokenEngine], ratio: float | list[int] | str
) -> None:
    endpoint = endpoint_of(broken({"GET /v1/host": answer_json({"seconds": 60, "cpu_ratio": ratio})}))
    assert (probed(endpoint).state, endpoint.status) == ("engine_down", "refused")
    assert ProbeHour.objects.get().utilised == 0


def test_an_engine_that_was_never_pinned_is_pinned_and_left_to_its_check(
    engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(probing, "endpoint_check", lambda endpoint: asked.append(endpoint.pk))
    running = engine()
    endpoint = endpoint_of(running, fingerprint="")
    probing.probe([endpoint.pk])
    assert asked == [endpoint.pk]
    endpoint.refresh_from_db()
    assert (endpoint.fingerprint, AvailabilitySpan.objects.count()) == (running.fingerprint, 0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert probed(known(make_endpoint(control_address=f"127.0.0.1:{port}"))).state == "engine_down"


def test_an_archived_endpoint_is_left_alone(engine: Callable[..., Engine]) -> None:
    endpoint = endpoint_of(engine())
    archive(row=endpoint)
    probing.probe([endpoint.pk])
    assert AvailabilitySpan.objects.count() == 0


def test_many_silent_endpoints_are_probed_at_once_without_a_database_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = []
    # Passed by so many at once only.
    together = Barrier(probing.THREADS, timeout=60)

    def hang(endpoint: Endpoint) -> tuple[float, ProbedLoad]:
        held.append(connection.connection)
        together.wait()
        return 0.2, ProbedLoad()

    monkeypatch.setattr(probing, "_answer_of", hang)
    endpoints = [make_endpoint(fingerprint="sha256:" + "0" * 64) for _ in range(2 * probing.THREADS)]
    closed: list[Any] = []
    monkeypatch.setattr(probing, "ThreadPoolExecutor", watching(ThreadPoolExecutor, closed))
    probing.probe([endpoint.pk for endpoint in endpoints])
    assert AvailabilitySpan.objects.filter(state="answered").count() == 64
    assert (held, closed) == ([None] * 64, [None])


def watching(pool: Callable[..., Any], closed: list[Any]) -> Callable[..., Any]:
    def make(*arguments: Any, **options: Any) -> Any:
        closed.append(connection.connection)
        return pool(*arguments, **options)

    return make


def test_the_tick_has_a_worker_probe_what_is_due(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    endpoint = endpoint_of(engine())
    worker()
    # A probe is dropped while a check of the same endpoint is being written: its creation asked for one.
    awaited(Endpoint.objects.filter(pk=endpoint.pk).exclude(checked_at=None))
    Endpoint.objects.filter(pk=endpoint.pk).update(probe_due_at=timezone.now())
    awaited(AvailabilitySpan.objects.filter(endpoint=endpoint, state="answered"))


def awaited(rows: QuerySet[Any, Any]) -> None:
    deadline = time.monotonic() + 120
    while not rows.exists():
        assert time.monotonic() < deadline, f"nothing within the time: {rows.query}"
        time.sleep(0.1)
