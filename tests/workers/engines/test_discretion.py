"""Of an address at which no engine was seen the same is told, after the same time, whatever is there."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from benchweb.hosts.endpoints.services import endpoint_update
from benchweb.hosts.models import AvailabilitySpan, Endpoint
from tests.factories import make_endpoint, make_pair, make_run
from tests.processes import Engine
from tests.workers.engine_client.broken_engine import BrokenEngine, answer_bytes, answer_json
from tests.workers.engines.names import Resolver
from tests.workers.engines.test_dialing import silent
from workers.checks import check, probe
from workers.engines import discretion
from workers.runs import run

pytestmark = pytest.mark.django_db(transaction=True)
PIN = "sha256:" + "0" * 64


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[dict[str, str]]:
    """Return addresses with nobody, a firewall, other services, and ones that are refused."""
    names = Resolver(monkeypatch)
    names.set("nobody.test")
    names.set("internal.test", "169.254.169.254")
    web = BrokenEngine(tmp_path, {"GET /v1/about": answer_bytes(b"<html>secret</html>")}, "web.test")
    api = BrokenEngine(
        tmp_path, {"GET /v1/about": answer_json({"error": {"code": "x", "message": "secret"}}, 403)}, "api.test"
    )
    with socket.create_server(("127.0.0.1", 0)) as ssh, silent("127.0.0.1") as filtered:
        greeting = threading.Thread(target=_greet, args=(ssh,), daemon=True)
        greeting.start()
        yield {
            "closed": "127.0.0.1:1",
            "filtered": f"127.0.0.1:{filtered}",
            "ssh": f"127.0.0.1:{ssh.getsockname()[1]}",
            "web": web.address,
            "api": api.address,
            "no name": "nobody.test:7410",
            "refused": "internal.test:7410",
            "metadata": "169.254.169.254:80",
        }
    web.close()
    api.close()


def _greet(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.sendall(b"SSH-2.0-OpenSSH\r\n" * 9)


@pytest.mark.parametrize("fingerprint", ["", PIN], ids=["unpinned", "pinned"])
def test_a_check_and_a_probe_tell_the_same_of_all_places(places: dict[str, str], fingerprint: str) -> None:
    told = set()
    for name, address in places.items():
        endpoint = make_endpoint(host_name=name, control_address=address, token="t", fingerprint=fingerprint)
        check.check(endpoint.pk)
        endpoint.refresh_from_db()
        told.add(_told(endpoint, address))
        assert endpoint.fingerprint == fingerprint, name
        probe.probe([endpoint.pk])
        endpoint.refresh_from_db()
        told.add(_told(endpoint, address))
        span = AvailabilitySpan.objects.get(endpoint=endpoint)
        assert (span.state, span.reason) == ("unreachable", endpoint.status_reason), name
    assert len(told) == 1, told
    assert "could not be used" in told.pop()[1]


def _told(endpoint: Endpoint, address: str) -> tuple[str, ...]:
    reason = endpoint.status_reason.replace(address, "ADDRESS").replace(str(endpoint), "ENDPOINT")
    return endpoint.status, reason, endpoint.seen_fingerprint, endpoint.engine_version


def test_a_run_tells_the_same_of_all_places(places: dict[str, str]) -> None:
    reasons = set()
    for name, address in places.items():
        source = make_endpoint(host_name=name, control_address=address, token="t")
        made = make_run(pair=make_pair(source=source))
        run.execute(made.pk)
        made.refresh_from_db()
        reasons.add((made.state, made.reason.replace(address, "ADDRESS").replace(str(source), "ENDPOINT")))
    assert len(reasons) == 1, reasons


def test_all_places_are_told_of_after_the_same_time(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discretion, "UNDISCLOSED_SECONDS", 4.0)
    endpoints = [make_endpoint(control_address=address, token="t") for address in places.values()]
    took = []

    def timed(endpoint: Endpoint) -> None:
        started = time.monotonic()
        probe._probed(endpoint)
        took.append(time.monotonic() - started)

    threads = [threading.Thread(target=timed, args=(endpoint,)) for endpoint in endpoints]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == len(endpoints)
    assert 4.0 <= min(took) <= max(took) < 5.5


def test_the_log_tells_what_it_was(places: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    endpoint = make_endpoint(control_address=places["web"], token="t")
    check.check(endpoint.pk)
    assert f"Endpoint {endpoint.pk} at {places['web']}: " in caplog.text
    assert "shows a certificate that is not an engine's" in caplog.text


def test_once_an_engine_answered_at_an_address_all_is_told_of_it(engine: Callable[..., Engine]) -> None:
    running = engine()
    endpoint = make_endpoint(control_address=running.control, token=running.token)
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.answered_address) == ("answered", running.control)
    running.process.kill()
    running.process.wait()
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert "can't be reached (Connection refused)" in endpoint.status_reason
    endpoint_update(endpoint=endpoint, control_address="127.0.0.1:1", token="t", fingerprint=endpoint.fingerprint)
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert endpoint.answered_address == ""
    assert "could not be used" in endpoint.status_reason


def test_a_wrong_token_is_told_of_an_engine_at_once(engine: Callable[..., Engine]) -> None:
    endpoint = make_endpoint(control_address=engine().control, token="wrong")
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert endpoint.status == "refused"
    assert "doesn't know this token, so it was not sent: enter the token" in endpoint.status_reason
