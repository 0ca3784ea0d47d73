"""Engines that send their answers a byte at a time: no call, check, probe or run is held longer than by silence."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from benchweb.hosts.models import AvailabilitySpan, Endpoint
from benchweb.runs.models import State
from tests.factories import make_endpoint, make_pair, make_run
from tests.workers.engine_client.broken_engine import ABOUT, Answer, BrokenEngine, answer_chunks, answer_json, drip
from tests.workers.engine_client.test_engine_client import SPEC, client_of
from workers.checks import check, probe
from workers.engine_client import EngineError, EngineUnreachable, answers, client, presented_certificate
from workers.runs import attempt, run, trial

OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = OK + b"Content-Length: 1000000\r\n\r\n"
CLOSING = OK + b"Connection: close\r\n\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
# Of an event's line, in a chunk that never ends.
EVENT = CHUNKED + b"fffff\r\n{"
DRIPS = {
    "status": drip(OK),
    "header": drip(OK + b"X-Long: x", at_once=len(OK)),
    "interim": drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, seconds=0.02),
    "body": drip(LENGTH + b"{", at_once=len(LENGTH)),
    "body until the end": drip(CLOSING + b"{", at_once=len(CLOSING)),
    "chunks": drip(CHUNKED + b"1\r\n{\r\n" * 1_000, at_once=len(CHUNKED)),
    "refusal": drip(b"HTTP/1.1 401 No\r\nContent-Length: 100000\r\n\r\n{", at_once=50),
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Callable[[dict[str, Answer]], BrokenEngine]]:
    engines: list[BrokenEngine] = []

    def make(answers: dict[str, Answer]) -> BrokenEngine:
        folder = tmp_path / str(len(engines))
        folder.mkdir()
        engines.append(BrokenEngine(folder, answers))
        return engines[-1]

    yield make
    for made in engines:
        made.close()


@pytest.mark.parametrize("dripped", DRIPS.values(), ids=DRIPS)
def test_an_answer_that_drips_ends_in_time_wherever_it_drips(
    engine: Callable[[dict[str, Answer]], BrokenEngine], monkeypatch: pytest.MonkeyPatch, dripped: Answer
) -> None:
    monkeypatch.setattr(client, "CREATE_SECONDS", 1.0)
    made = client_of(engine({"PUT": dripped}), read_token=lambda: "another")
    started = time.monotonic()
    with pytest.raises(EngineError, match="not complete within 1 s"):
        made.create("s", SPEC)
    # Asked again with another token it may take the time twice.
    assert time.monotonic() - started < 4


def test_every_call_of_an_engine_that_drips_ends_in_time(engine: Callable[[dict[str, Answer]], BrokenEngine]) -> None:
    verbs = ("GET /v1/about", "GET /v1/facts", "GET", "PUT", "POST", "DELETE")
    made = client_of(engine(dict.fromkeys(verbs, DRIPS["body"])))
    calls = {
        "about": made.about,
        "facts": made.facts,
        "host_load": lambda: made.host_load(address="192.0.2.1"),
        "create": lambda: made.create("s", SPEC),
        "cancel": lambda: made.cancel("s", "enough"),
        "acknowledge": lambda: made.acknowledge("s"),
        "renew": lambda: made.renew("s"),
    }
    with ThreadPoolExecutor(len(calls)) as pool:
        asked = {name: pool.submit(call) for name, call in calls.items()}
        started = time.monotonic()
        for name, each in asked.items():
            with pytest.raises(EngineError, match="broke off its answer"):
                raise AssertionError(f"{name} answered {each.result(timeout=30)!r}")
        assert time.monotonic() - started < client.CREATE_SECONDS + 5


@pytest.mark.parametrize("at_once", [0, len(CHUNKED), len(EVENT)], ids=["headers", "chunk", "line"])
def test_events_that_drip_end_in_time(
    engine: Callable[[dict[str, Answer]], BrokenEngine], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(client, "EVENT_SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(answers, "EVENT_SECONDS", 1.5)
    made = client_of(engine({"GET /v1/sessions": drip(EVENT, at_once=at_once)}))
    started = time.monotonic()
    with pytest.raises(EngineUnreachable):
        list(made.events("s"))
    assert time.monotonic() - started < 4


def test_a_long_event_stream_may_go_on_while_its_lines_come(
    engine: Callable[[dict[str, Answer]], BrokenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "EVENT_SECONDS", 1.0)

    def lines(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(CHUNKED)
        for _ in range(12):
            handler.wfile.write(b"1\r\n\n\r\n")
            time.sleep(0.2)
        result = b'{"id": 1, "type": "result", "result": {}}\n'
        handler.wfile.write(f"{len(result):x}\r\n".encode() + result + b"\r\n0\r\n\r\n")

    made = client_of(engine({"GET /v1/sessions": lines}))
    assert [event.type for event in made.events("s")] == ["result"]


def test_a_handshake_that_drips_ends_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_drip_handshakes, args=(listener,), daemon=True).start()
        port = listener.getsockname()[1]
        started = time.monotonic()
        with pytest.raises(EngineError):
            presented_certificate(name="b", host="127.0.0.1", port=port, addresses=["127.0.0.1"])
        assert time.monotonic() - started < 6


def _drip_handshakes(listener: socket.socket) -> None:
    # The head of a record of 16,000 bytes, then its bytes one by one.
    record = b"\x16\x03\x03\x3e\x80" + b"\x02" + bytes(16_000)
    connection, _ = listener.accept()
    with connection:
        try:
            for byte in record:
                connection.send(bytes([byte]))
                time.sleep(0.2)
        except OSError:
            return


@pytest.mark.django_db(transaction=True)
def test_a_check_of_an_engine_that_drips_ends_with_the_reason(
    engine: Callable[[dict[str, Answer]], BrokenEngine],
) -> None:
    made = engine({"GET /v1/about": DRIPS["body"]})
    endpoint = make_endpoint(control_address=made.address, token="t")
    Endpoint.objects.update(answered_address=made.address)
    started = time.monotonic()
    check.check(endpoint.pk)
    assert time.monotonic() - started < 12
    endpoint.refresh_from_db()
    assert endpoint.status == Endpoint.Status.UNREACHABLE
    assert "its answer was not complete within 5 s" in endpoint.status_reason


@pytest.mark.django_db(transaction=True)
def test_engines_that_drip_hold_up_no_probe_of_others(
    engine: Callable[[dict[str, Answer]], BrokenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "THREADS", 2)
    dripping = engine({"GET /v1/about": DRIPS["body"]})
    good = engine({"GET /v1/about": answer_json(ABOUT), "GET /v1/host": answer_json({"seconds": 60, "cpu_ratio": 0.5})})
    rows = [
        make_endpoint(control_address=each.address, token="t", fingerprint=each.fingerprint)
        for each in (dripping, dripping, good)
    ]
    started = time.monotonic()
    probe.probe([row.pk for row in rows])
    assert time.monotonic() - started < 15
    states = dict(AvailabilitySpan.objects.values_list("endpoint_id", "state"))
    assert states[rows[2].pk] == "answered"
    assert "answered" not in {states[row.pk] for row in rows[:2]}


@pytest.mark.django_db(transaction=True)
def test_a_run_on_an_engine_that_drips_its_events_ends(
    engine: Callable[[dict[str, Answer]], BrokenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "REATTACH_SECONDS", 0.6)
    monkeypatch.setattr(attempt, "UNREACHABLE_SECONDS", 0.3)
    monkeypatch.setattr(answers, "EVENT_SECONDS", 1.5)
    prepared = answer_json({"state": "prepared", "data_port": 7411}, status=201)
    made = engine({"PUT": prepared, "GET /v1/sessions": drip(EVENT, at_once=len(EVENT))})
    ends = [make_endpoint(control_address=made.address, token="t") for _ in range(2)]
    row = make_run(pair=make_pair(source=ends[0], sink=ends[1]))
    started = time.monotonic()
    run.execute(row.pk)
    assert time.monotonic() - started < 20
    row.refresh_from_db()
    assert row.state == State.FAILED
    assert "fell silent in the middle of a trial (its answer was not complete" in row.reason


@pytest.mark.django_db(transaction=True)
def test_an_engine_that_refuses_after_a_cut_is_told_of_as_it_was(
    engine: Callable[[dict[str, Answer]], BrokenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "REATTACH_SECONDS", 0.3)
    prepared = answer_json({"state": "prepared", "data_port": 7411}, status=201)
    made = engine({"PUT": prepared, "GET /v1/sessions": answer_chunks(b"\n", end=False)})
    refusal = answer_json({"error": {"code": "unauthorized", "message": "no"}}, status=401)

    def refuses_from_now_on(*_: object, **__: object) -> None:
        made._answers["GET /v1/about"] = refusal
        raise EngineUnreachable("cut")

    monkeypatch.setattr(attempt, "run_trial", refuses_from_now_on)
    told = []
    monkeypatch.setattr(attempt, "stop_sessions", lambda trial, ends, reason: told.append(reason))
    ends = [make_endpoint(control_address=made.address, token="t") for _ in range(2)]
    row = make_run(pair=make_pair(source=ends[0], sink=ends[1]))
    run.execute(row.pk)
    assert len(told) == 1
    assert "refused the token" in told[0]
    assert "be reached" not in told[0]
