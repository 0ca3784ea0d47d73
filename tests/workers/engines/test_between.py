"""Somebody in between, with a certificate of their own or without, learns nothing that works afterwards."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchweb.hosts.models import Endpoint, Pair
from benchweb.runs.models import Run, State
from tests.factories import make_endpoint, make_pair, make_run
from tests.processes import Engine
from tests.workers.engine_client.broken_engine import BrokenEngine, answer_bytes
from tests.workers.engines.between import Between, answer_to, dialled, spoken
from tests.workers.runs.real_runs import ended, long_run, pair_of, running_trial
from workers.checks import check, probe
from workers.engine_client import EngineClient, EngineRefused
from workers.runs import run as runs

pytestmark = pytest.mark.django_db(transaction=True)
Intrude = Callable[[Engine], Between]
Worker = Callable[[], "subprocess.Popen[bytes]"]
# Ends the connection after the answer, so that a replay need not wait for the engine's own limit.
_LAST_CALL = "GET /v1/about HTTP/1.1\r\nHost: engine\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n"


@pytest.fixture
def intrude(tmp_path: Path) -> Iterator[Intrude]:
    """Put somebody between the workers and an engine."""
    made: list[Between] = []

    def make(engine: Engine) -> Between:
        folder = tmp_path / f"between-{len(made)}"
        folder.mkdir()
        made.append(Between(folder, engine.control))
        return made[-1]

    yield make
    for each in made:
        each.close()


def everything_asks(endpoint: Endpoint) -> Endpoint:
    """Check, probe and run: all that sends a token to an engine."""
    check.check(endpoint.pk)
    probe.probe([endpoint.pk])
    runs.execute(make_run(pair=make_pair(source=Endpoint.objects.get(pk=endpoint.pk))).pk)
    check.check(endpoint.pk)
    return Endpoint.objects.select_related("host").get(pk=endpoint.pk)


def client_of(engine: Engine) -> EngineClient:
    host, _, port = engine.control.rpartition(":")
    return EngineClient(name="e", host=host, port=int(port), token=engine.token, fingerprint=engine.fingerprint)


def assert_nothing_was_made(engine: Engine, run: Run) -> None:
    """Assert that the engine knows no session of the run, and none at all."""
    with client_of(engine) as client:
        assert client.about().sessions == 0
        for trial in run.trials.all():
            for role in ("source", "sink"):
                with pytest.raises(EngineRefused) as refused:
                    client.state(f"{trial.session}-{role}")
                assert refused.value.status == 404


def test_on_first_contact_whoever_takes_tls_apart_gets_a_nonce_and_nothing_else(
    engine: Callable[..., Engine], intrude: Intrude
) -> None:
    running = engine()
    between = intrude(running)
    between.take_apart()
    endpoint = everything_asks(make_endpoint(control_address=between.address, token=running.token))
    assert (endpoint.status, endpoint.fingerprint) == ("refused", "")
    assert "doesn't know this token, so it was not sent" in endpoint.status_reason
    assert set(re.findall(rb"(?m)^[A-Z]+ /\S+", between.sent_in_clear)) == {b"POST /v1/proof"}
    assert b"uthorization" not in between.sent_in_clear and running.token.encode() not in between.sent_in_clear


def test_proofs_recorded_in_between_open_nothing(
    engine: Callable[..., Engine], intrude: Intrude, tmp_path: Path
) -> None:
    running = engine()
    between = intrude(running)
    between.take_apart()
    check.check(make_endpoint(control_address=between.address, token=running.token).pk)
    answers = [bytes(each.answered) for each in between.recordings if b"proofs" in each.answered]
    proofs = re.findall(r"[0-9a-f]{64}", answers[0].decode().partition('"proofs"')[2])
    assert len(proofs) == 1
    # As a token at the engine.
    refused = answer_to(spoken(dialled(running.control)), _LAST_CALL.format(proofs[0]).encode())
    assert refused.startswith(b"HTTP/1.1 401 ")
    # As an answer to another worker, whose nonce is another.
    pretender = BrokenEngine(tmp_path, {"POST /v1/proof": answer_bytes(answers[0].partition(b"\r\n\r\n")[2])})
    endpoint = everything_asks(make_endpoint(control_address=pretender.address, token=running.token))
    pretender.close()
    assert (pretender.bearers, endpoint.status, endpoint.fingerprint) == ([], "refused", "")


def test_a_whole_run_recorded_byte_by_byte_holds_no_token_and_can_not_be_replayed(
    engine_pair: tuple[Engine, Engine], intrude: Intrude
) -> None:
    between = intrude(engine_pair[0])
    run = make_run(pair=watched(pair_of(*engine_pair), between))
    runs.execute(run.pk)
    assert ended(run).state == State.FINISHED
    recorded = [bytes(each.sent) for each in between.recordings]
    assert sum(map(len, recorded)) > 1000
    assert not any(engine_pair[0].token.encode() in sent for sent in recorded)
    between.close()
    assert_nothing_was_made(engine_pair[0], run)
    # A request of the recording, understood by the engine, would make the run's session anew.
    for sent in recorded:
        answer_to(dialled(engine_pair[0].control), sent)
    assert_nothing_was_made(engine_pair[0], run)


def test_whoever_takes_tls_apart_in_the_middle_of_a_run_is_sent_nothing(
    worker: Worker, engine_pair: tuple[Engine, Engine], intrude: Intrude
) -> None:
    worker()
    between = intrude(engine_pair[0])
    pair = watched(pair_of(*engine_pair), between)
    run = long_run(pair)
    running_trial(run, 1)
    between.take_apart()
    assert ended(run).state == State.FAILED
    assert "shows another certificate than the pinned one" in run.reason
    assert any(each.is_clear for each in between.recordings)
    assert between.sent_in_clear == b""
    source = everything_asks(pair.source)
    assert (source.status, source.seen_fingerprint) == ("refused", between.fingerprint)
    assert between.sent_in_clear == b""


def watched(pair: Pair, between: Between) -> Pair:
    """Lead the way to the source's engine through somebody in between, as a forged route or name does."""
    Endpoint.objects.filter(pk=pair.source_id).update(control_address=between.address)
    pair.source.refresh_from_db()
    return pair
