"""The engine client against engines that hang, lie, and break off: a clear error each, in time."""

import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.workers.engine_client.broken_engine import (
    ABOUT,
    Answer,
    BrokenEngine,
    answer_bytes,
    answer_chunks,
    answer_json,
    hang,
)
from workers.engine_client import (
    EngineClient,
    EngineGarbage,
    EngineRefused,
    EngineUnreachable,
    SessionSpec,
    Trust,
    answers,
    client,
    presented_certificate,
)

SPEC = SessionSpec(role="sink", kind="tcp_stream", params={}, cookie="0" * 64)
RESULT = b'{"id": 1, "type": "result", "result": {}}\n'


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Callable[..., BrokenEngine]]:
    engines: list[BrokenEngine] = []

    def make(**answers: Answer) -> BrokenEngine:
        engines.append(BrokenEngine(tmp_path, {key.replace("_", " /v1/", 1): value for key, value in answers.items()}))
        return engines[-1]

    yield make
    for made in engines:
        made.close()


def client_of(
    engine: BrokenEngine, fingerprint: str = "", read_token: Callable[[], str | None] | None = None
) -> EngineClient:
    host, _, port = engine.address.partition(":")

    def read_trust() -> Trust | None:
        token = read_token() if read_token else None
        return None if token is None else Trust(token, engine.fingerprint)

    return EngineClient(
        name="host b",
        host=host,
        port=int(port),
        token="t",
        fingerprint=fingerprint or engine.fingerprint,
        read_trust=read_trust,
    )


def test_the_seen_fingerprint_is_the_certificates_sha256(engine: Callable[..., BrokenEngine]) -> None:
    made = engine()
    host, _, port = made.address.partition(":")
    shown = presented_certificate(name="b", host=host, port=int(port), addresses=[host])
    assert (shown.fingerprint, shown.address) == (made.fingerprint, host)


def test_another_certificate_than_the_pinned_one_is_refused_before_the_token_is_sent(
    engine: Callable[..., BrokenEngine],
) -> None:
    made = engine()
    with pytest.raises(EngineRefused, match="another certificate"):
        client_of(made, "sha256:" + "0" * 64).about()
    assert made.requests == []


@pytest.mark.parametrize("pinned", ["", "sha256:", "a" * 32, "sha256:" + "a" * 63, "sha256:" + "A" * 64])
def test_without_a_whole_fingerprint_there_is_no_client_that_could_send_the_token(
    engine: Callable[..., BrokenEngine], pinned: str
) -> None:
    made = engine()
    host, _, port = made.address.partition(":")
    with pytest.raises(EngineRefused, match="has no pinned certificate"):
        EngineClient(name="host b", host=host, port=int(port), token="t", fingerprint=pinned)
    assert made.requests == []


def test_a_closed_port_is_unreachable_naming_the_engine_and_the_next_step() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nobody = EngineClient(name="host b", host="127.0.0.1", port=port, token="t", fingerprint="sha256:" + "0" * 64)
    with pytest.raises(EngineUnreachable, match=rf"The engine of host b \(127.0.0.1:{port}\) can't be reached"):
        nobody.about()


def test_a_port_that_speaks_no_tls_is_told_from_an_engine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        import threading

        threading.Thread(target=lambda: server.accept()[0].sendall(b"SSH-2.0-x\r\n" * 9), daemon=True).start()
        with pytest.raises((EngineGarbage, EngineUnreachable)):
            presented_certificate(name="b", host="127.0.0.1", port=server.getsockname()[1], addresses=["127.0.0.1"])


def test_an_engine_that_hangs_is_given_up_in_time(
    engine: Callable[..., BrokenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.3)
    started = time.monotonic()
    hanging = client_of(engine(GET_about=hang(3)))
    with pytest.raises(EngineUnreachable, match="can't be reached"):
        hanging._json("GET", "/v1/about", seconds=0.3)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "answer",
    [
        answer_bytes(b"<html>hello</html>"),
        answer_json([]),
        answer_json({"engine_version": "1"}),
        answer_bytes(b"[" * 100_000),
        answer_bytes(b"oops", status=500),
        answer_json({"error": "no object"}, status=503),
    ],
)
def test_garbage_is_named_as_such(engine: Callable[..., BrokenEngine], answer: Answer) -> None:
    with pytest.raises(EngineGarbage, match=r"Is that the engine's port|can't be read"):
        client_of(engine(GET_about=answer)).about()


def test_a_wrong_token_says_where_to_enter_the_right_one(engine: Callable[..., BrokenEngine]) -> None:
    refusal = answer_json({"error": {"code": "unauthorized", "message": "wrong token"}}, status=401)
    with pytest.raises(EngineRefused, match="refused the token: enter the token"):
        client_of(engine(GET_about=refusal)).about()


UNAUTHORIZED = answer_json({"error": {"code": "unauthorized", "message": "wrong token"}}, status=401)


def only_for(token: str, answer: Answer) -> Answer:
    """Answer those who bring this token; refuse others."""

    def answered(handler: BaseHTTPRequestHandler) -> None:
        is_right = handler.headers["Authorization"] == f"Bearer {token}"
        (answer if is_right else UNAUTHORIZED)(handler)

    return answered


def test_a_refused_token_is_read_again_once_and_the_new_one_is_kept(engine: Callable[..., BrokenEngine]) -> None:
    made = engine(GET_about=only_for("new", answer_json(ABOUT)), GET_sessions=only_for("new", answer_chunks(RESULT)))
    read = []

    def read_token() -> str:
        read.append(1)
        return "new"

    caller = client_of(made, read_token=read_token)
    assert caller.about().boot_id == "b"
    assert [event.type for event in caller.events("s")] == ["result"]
    assert (len(read), made.bearers, len(made.requests)) == (1, ["t", "new"], 3)
    # The refused answer was read to its end: one connection served all.
    assert caller._channels[0].pool.num_connections == 1


@pytest.mark.parametrize("stored", ["t", None])
def test_a_refused_token_that_is_still_the_stored_one_is_not_sent_again(
    engine: Callable[..., BrokenEngine], stored: str | None
) -> None:
    made = engine(GET_about=UNAUTHORIZED)
    read = []

    def read_token() -> str | None:
        read.append(1)
        return stored

    caller = client_of(made, read_token=read_token)
    with pytest.raises(EngineRefused, match="refused the token"):
        caller.about()
    assert (len(read), len(made.requests)) == (1, 1)


def test_a_new_token_that_is_refused_too_is_the_end_of_it(engine: Callable[..., BrokenEngine]) -> None:
    made = engine(GET_about=UNAUTHORIZED)
    tokens = iter(["second", "third"])
    with pytest.raises(EngineRefused, match="refused the token"):
        client_of(made, read_token=lambda: next(tokens)).about()
    assert made.bearers == ["t", "second"]


def test_a_refused_session_carries_the_engines_own_words(engine: Callable[..., BrokenEngine]) -> None:
    refusal = answer_json({"error": {"code": "invalid", "message": "flows is 5000"}}, status=422)
    with pytest.raises(EngineRefused, match="flows is 5000") as caught:
        client_of(engine(PUT_sessions=refusal)).create("s", SPEC)
    assert (caught.value.code, caught.value.status) == ("invalid", 422)


def test_events_end_with_the_final_one_and_the_connection_is_used_again(engine: Callable[..., BrokenEngine]) -> None:
    made = engine(GET_sessions=answer_chunks(b'\n{"id": 0, "type": "state"}\n', RESULT))
    caller = client_of(made)
    assert [event.type for event in caller.events("s")] == ["state", "result"]
    assert [event.type for event in caller.events("s", after=1)] == ["state", "result"]
    assert caller._channels[0].pool.num_connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        answer_chunks(b'{"id": 1, "type": "state"}\n', end=True),
        answer_chunks(b'{"id": 1, "type": "state"}\n', end=False),
        answer_chunks(b'{"id": 1, "type": "state"}\n', end=False, then_sleep_seconds=2),
    ],
)
def test_events_that_break_off_or_fall_silent_are_unreachable(
    engine: Callable[..., BrokenEngine], answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "EVENT_SILENCE_SECONDS", 0.5)
    with pytest.raises(EngineUnreachable):
        list(client_of(engine(GET_sessions=answer)).events("s"))


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b"[]\n", b'{"type": "result"}\n', b'{"id": 1, "type": "song"}\n', b'{"id": "1"}\n']
)
def test_events_that_are_none_are_garbage(engine: Callable[..., BrokenEngine], line: bytes) -> None:
    with pytest.raises(EngineGarbage):
        list(client_of(engine(GET_sessions=answer_chunks(line))).events("s"))


def test_an_endless_event_is_given_up_before_it_fills_the_memory(
    engine: Callable[..., BrokenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MAXIMUM_LINE_BYTES", 2 * answers.MEBIBYTE)
    endless = answer_chunks(*[b"x" * 100_000] * 30)
    with pytest.raises(EngineGarbage, match=r"host b \(.*\) sent a result or event of more than 2 MiB, the most that"):
        list(client_of(engine(GET_sessions=endless)).events("s"))


def test_of_events_no_more_is_held_than_the_longest_has(engine: Callable[..., BrokenEngine]) -> None:
    count, length = 40, answers.MEBIBYTE
    line = RESULT.replace(b"result", b"state", 1).replace(b"{}", b'"%b"' % (b"x" * length))
    made = client_of(engine(GET_sessions=answer_chunks(*[line] * count, RESULT)))
    tracemalloc.start()
    seen = sum(1 for _event in made.events("s"))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == count + 1
    # A line, its text, and what is made of it.
    assert held < 10 * length


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_end_is_refused_with_the_bound(engine: Callable[..., BrokenEngine], status: int) -> None:
    endless = answer_bytes(b"[" + b"7, " * (2 * answers.MEBIBYTE) + b"7]", status)
    with pytest.raises(EngineGarbage, match="has more than 4 MiB, the most that is read"):
        client_of(engine(GET_facts=endless)).facts()
