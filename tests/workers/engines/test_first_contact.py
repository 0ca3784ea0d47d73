"""First contact: an engine of which no certificate is pinned gets the token only once it proved to know it."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import urllib3

from benchweb.hosts.endpoints.services import endpoint_update
from benchweb.hosts.models import AvailabilitySpan, Endpoint
from tests.conftest import ENGINE
from tests.factories import make_endpoint, make_pair, make_run
from tests.processes import Engine
from tests.workers.engine_client.broken_engine import Answer, BrokenEngine, answer_bytes, answer_json
from tests.workers.runs.real_runs import wait_for
from workers.checks import check, probe
from workers.engine_client.proof import token_proof
from workers.runs import run

pytestmark = pytest.mark.django_db(transaction=True)
Listen = Callable[..., BrokenEngine]
TOKEN = "the-token-that-somebody-else-wants"
NONCE = "0123456789abcdef" * 4
REFUSED = {"error": {"code": "unauthorized", "message": "the bearer token is missing"}}


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listen]:
    """Make listeners of somebody else's that keep every token sent to them."""
    made: list[BrokenEngine] = []

    def listen(answers: dict[str, Answer] | None = None, *tokens: str) -> BrokenEngine:
        folder = tmp_path / f"listener-{len(made)}"
        folder.mkdir()
        made.append(BrokenEngine(folder, answers or {}))
        made[-1].tokens = tokens
        return made[-1]

    yield listen
    for each in made:
        each.close()


def relay(listener: BrokenEngine, engine: Engine) -> None:
    """Let a listener pass every request on to a real engine, and its answer back."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        host, _, port = engine.control.rpartition(":")
        pin = engine.fingerprint.removeprefix("sha256:")
        with urllib3.HTTPSConnectionPool(host, int(port), cert_reqs="CERT_NONE", assert_fingerprint=pin) as pool:
            headers = {"Content-Type": "application/json"}
            answered = pool.request(handler.command, handler.path, body=listener.body, headers=headers, retries=False)
            answer_bytes(answered.data, answered.status)(handler)

    listener.answer_all(answer)


def everything_asks(endpoint: Endpoint) -> Endpoint:
    """Check, probe and run: all that sends a token to an engine."""
    check.check(endpoint.pk)
    probe.probe([endpoint.pk])
    run.execute(make_run(pair=make_pair(source=Endpoint.objects.get(pk=endpoint.pk))).pk)
    check.check(endpoint.pk)
    return Endpoint.objects.select_related("host").get(pk=endpoint.pk)


def checked(endpoint: Endpoint) -> Endpoint:
    check.check(endpoint.pk)
    return Endpoint.objects.select_related("host").get(pk=endpoint.pk)


def test_the_proof_is_that_of_the_protocols_description() -> None:
    fingerprint = "sha256:70e65c609277bc4f0023b76009a7c630130050dae1bc6eaaf4d1bcdf7343d4a6"
    proof = token_proof("the-token-of-the-test-of-the-engine", NONCE, fingerprint)
    assert proof == "3bf7c1788545971c1f31aa84afcf56a3d3bb58a2b717c821bd16a1324a87e37d"  # pragma: allowlist secret


def test_an_engine_that_knows_the_token_is_pinned(engine: Callable[..., Engine]) -> None:
    running = engine()
    found = checked(make_endpoint(control_address=running.control, token=running.token))
    assert (found.status, found.fingerprint) == ("answered", running.fingerprint)


def test_a_listener_that_does_not_know_the_token_gets_nothing(listener: Listen) -> None:
    for other in (listener(), listener({}, "another-token", "")):
        endpoint = everything_asks(make_endpoint(control_address=other.address, token=TOKEN))
        assert (other.bearers, endpoint.fingerprint, endpoint.status) == ([], "", "refused")
        assert "doesn't know this token, so it was not sent" in endpoint.status_reason
        assert {request for request in other.requests if request} == {"POST /v1/proof"}
        span = AvailabilitySpan.objects.filter(endpoint=endpoint).latest("since")
        assert (span.state, span.reason) == ("engine_down", endpoint.status_reason)


def test_a_listener_that_passes_everything_on_to_the_engine_gets_nothing(
    engine: Callable[..., Engine], listener: Listen
) -> None:
    running = engine()
    other = listener()
    relay(other, running)
    endpoint = everything_asks(make_endpoint(control_address=other.address, token=running.token))
    assert "POST /v1/proof" in other.requests
    assert (other.bearers, endpoint.fingerprint, endpoint.status) == ([], "", "refused")
    assert "doesn't know this token" in endpoint.status_reason


def test_a_wrong_token_is_told_without_sending_it_and_the_right_one_is_taken(engine: Callable[..., Engine]) -> None:
    running = engine()
    endpoint = checked(make_endpoint(control_address=running.control, token=TOKEN))
    assert (endpoint.status, endpoint.fingerprint) == ("refused", "")
    assert endpoint.status_reason.startswith(f"The engine of {endpoint} ({running.control}) doesn't know this token")
    endpoint_update(endpoint=endpoint, control_address=running.control, token=running.token)
    endpoint = checked(endpoint)
    assert (endpoint.status, endpoint.fingerprint) == ("answered", running.fingerprint)


def test_a_token_that_the_engine_reads_on_a_hang_up_is_proven_at_once(engine: Callable[..., Engine]) -> None:
    running = engine()
    endpoint = checked(make_endpoint(control_address=running.control, token=TOKEN))
    assert endpoint.status == "refused"
    (running.folder / "token").write_text(f"{running.token}\n{TOKEN}\n")
    running.process.send_signal(signal.SIGHUP)
    wait_for(lambda: checked(endpoint).status == "answered", "the check after the hang-up")
    assert checked(endpoint).fingerprint == running.fingerprint


@pytest.mark.parametrize(
    "answer",
    [
        answer_json({"error": {"code": "not_found", "message": "there is no POST /v1/proof"}}, 404),
        answer_bytes(b"", 404),
        # What engines of before the call say to whoever brings no token.
        answer_json(REFUSED, 401),
    ],
)
def test_an_engine_of_before_the_proof_is_used_with_its_fingerprint_only(listener: Listen, answer: Answer) -> None:
    old = listener({"POST /v1/proof": answer})
    endpoint = everything_asks(make_endpoint(control_address=old.address, token=TOKEN))
    assert (old.bearers, endpoint.fingerprint, endpoint.status) == ([], "", "refused")
    assert "can't prove that it knows the token, so it was not sent. Update the engine" in endpoint.status_reason
    endpoint_update(endpoint=endpoint, control_address=old.address, fingerprint=old.fingerprint, token=TOKEN)
    assert (checked(endpoint).status, old.bearers) == ("answered", [TOKEN])


def test_without_a_token_nothing_is_pinned(listener: Listen) -> None:
    other = listener({}, "")
    endpoint = everything_asks(make_endpoint(control_address=other.address))
    assert (other.requests, endpoint.fingerprint, endpoint.status) == ([], "", "refused")
    assert "can't be asked without its token" in endpoint.status_reason


@pytest.mark.parametrize(
    "document",
    [[], {}, {"proofs": "0" * 64}, {"proofs": None}, {"proofs": [None, 1, "é", "\ud800", []]}, {"proofs": [""] * 65}],
)
def test_proofs_that_are_none_prove_nothing(listener: Listen, document: object) -> None:
    other = listener({"POST /v1/proof": answer_json(document)})
    endpoint = checked(make_endpoint(control_address=other.address, token=TOKEN))
    assert (other.bearers, endpoint.fingerprint) == ([], "")
    assert endpoint.status in ("refused", "unreachable")


def test_the_command_line_sends_its_token_to_nobody_who_does_not_know_it(
    engine: Callable[..., Engine], listener: Listen
) -> None:
    running, other, between = engine(), listener(), listener()
    relay(between, running)
    old = listener({"POST /v1/proof": answer_json(REFUSED, 401)})
    unknown = "doesn't know this token"
    for each, reason in ((other, unknown), (between, unknown), (old, "can't prove")):
        ended = measured(each.address, running.folder / "token")
        assert (ended.returncode, each.bearers) == (4, [])
        assert reason in ended.stderr and "so it was not sent" in ended.stderr
    assert measured(running.control, running.folder / "token").returncode == 0


def measured(address: str, token_file: Path) -> "subprocess.CompletedProcess[str]":
    command = [str(ENGINE), "run", "tcp_rr", "--peer", address, "--token-file", str(token_file)]
    return subprocess.run([*command, "--set", "duration_seconds=0.1"], capture_output=True, text=True, check=False)
