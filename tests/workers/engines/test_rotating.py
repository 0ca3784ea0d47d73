"""An engine's token and certificate are replaced from the dashboard, also in the middle of a run. Real engines."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import translation

from benchweb.accounts.audit.actors import Actor, acting
from benchweb.accounts.audit.models import AuditEntry
from benchweb.catalog.translation import reason_text
from benchweb.hosts.endpoints.services import endpoint_create, endpoint_update
from benchweb.hosts.enrolment.rotation import rotation_request
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.services import archive
from benchweb.runs.models import Run, State
from benchweb.site.secrets import decrypted
from tests.conftest import ENGINE
from tests.factories import make_endpoint
from tests.processes import Engine, stopped
from tests.workers.engine_client.broken_engine import Answer, BrokenEngine, answer_json
from tests.workers.runs.real_runs import ended, long_run, pair_of, running_trial, wait_for
from workers.checks import check
from workers.engine_client import EngineClient, EngineRefused
from workers.engines import rotating

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., Engine]
Worker = Callable[[], "subprocess.Popen[bytes]"]
TOKEN, CERTIFICATE = Endpoint.Rotation.TOKEN, Endpoint.Rotation.CERTIFICATE
NOT_FOUND = answer_json({"error": {"code": "not_found", "message": "there is no POST /v1/token"}}, 404)


@pytest.fixture
def old_engine(tmp_path: Path) -> Iterator[Callable[[dict[str, Answer]], BrokenEngine]]:
    """Make engines that answer as told."""
    made: list[BrokenEngine] = []

    def make(answers: dict[str, Answer]) -> BrokenEngine:
        made.append(BrokenEngine(tmp_path, answers))
        return made[-1]

    yield make
    for each in made:
        each.close()


def endpoint_of(engine: Engine) -> Endpoint:
    return make_endpoint(control_address=engine.control, token=engine.token, fingerprint=engine.fingerprint)


def rotated(endpoint: Endpoint, what: Endpoint.Rotation) -> Endpoint:
    rotating.rotate(endpoint.pk, what, None)
    return Endpoint.objects.select_related("host").get(pk=endpoint.pk)


def client_of(engine: Engine, fingerprint: str = "") -> EngineClient:
    """Return a client with the token, and the certificate unless another is given, that the engine began with."""
    host, _, port = engine.control.rpartition(":")
    fingerprint = fingerprint or engine.fingerprint
    return EngineClient(name="e", host=host, port=int(port), token=engine.token, fingerprint=fingerprint)


def old_token_is_refused(engine: Engine, fingerprint: str = "") -> bool:
    with client_of(engine, fingerprint) as client:
        try:
            client.about()
        except EngineRefused as error:
            assert error.status == 401, error
            return True
    return False


def answers(endpoint: Endpoint) -> bool:
    check.check(endpoint.pk)
    return Endpoint.objects.get(pk=endpoint.pk).status == Endpoint.Status.ANSWERED


def test_a_new_token_is_the_only_one_afterwards(engine: Start) -> None:
    running = engine()
    endpoint = rotated(endpoint_of(running), TOKEN)
    assert (endpoint.rotation_reason, endpoint.rotation_ended_at is not None) == ("", True)
    assert decrypted(endpoint.token_encrypted) != running.token
    assert old_token_is_refused(running)
    assert answers(endpoint)
    again = rotated(endpoint, TOKEN)
    assert again.token_encrypted != endpoint.token_encrypted and answers(again)


def test_a_new_certificate_is_pinned_and_the_old_one_gone_with_the_next_start(engine: Start) -> None:
    running = engine()
    endpoint = rotated(endpoint_of(running), CERTIFICATE)
    assert endpoint.rotation_reason == "" and endpoint.fingerprint not in ("", running.fingerprint)
    assert endpoint.seen_fingerprint == endpoint.fingerprint and answers(endpoint)
    told = json.loads((running.folder / "state" / "listening.json").read_text())
    assert told["fingerprint"] == endpoint.fingerprint
    # Whoever has the old one pinned is still served, until the engine starts again.
    client_of(running).about()
    stopped(running.process)
    listen, data_port = running.control, running.data_port
    again = Engine.start(ENGINE, running.folder, listen=listen, data_port=data_port, token=running.token)
    try:
        assert again.fingerprint == endpoint.fingerprint and answers(endpoint)
        with pytest.raises(EngineRefused, match="another certificate"):
            client_of(running).about()
    finally:
        stopped(again.process)


def test_every_endpoint_of_the_engine_with_that_token_gets_the_new_one(engine: Start) -> None:
    running = engine()
    endpoint = endpoint_of(running)
    trust = {"control_address": running.control, "fingerprint": running.fingerprint}
    second = endpoint_create(host=endpoint.host, name="second", token=running.token, **trust)
    other = endpoint_create(host=endpoint.host, name="other", token="the-token-of-somebody-else" * 2, **trust)
    rotated(endpoint, TOKEN)
    rotated(endpoint, CERTIFICATE)
    assert answers(second) and not answers(other)
    assert decrypted(Endpoint.objects.get(pk=other.pk).token_encrypted) == "the-token-of-somebody-else" * 2
    assert Endpoint.objects.values("fingerprint").distinct().count() == 1


@pytest.mark.parametrize(
    ("what", "file"), [(TOKEN, "successors.new"), (CERTIFICATE, "key.next.der")], ids=["token", "certificate"]
)
def test_an_engine_that_can_not_write_leaves_all_as_it_is(engine: Start, what: Endpoint.Rotation, file: str) -> None:
    running = engine()
    endpoint = endpoint_of(running)
    # No file can be written where a folder is.
    (running.folder / "state" / file).mkdir()
    after = rotated(endpoint, what)
    assert "can't be written to the engine's state folder" in after.rotation_reason
    assert "so nothing was changed" in after.rotation_reason
    with translation.override("zh-hans"):
        assert "写入引擎的状态文件夹" in reason_text(after.rotation_why)
    assert (bytes(after.token_encrypted), after.fingerprint) == (endpoint.token_encrypted, running.fingerprint)
    assert not old_token_is_refused(running) and answers(after)


@pytest.mark.parametrize("what", [TOKEN, CERTIFICATE])
def test_an_engine_of_before_the_call_says_that_it_is_too_old(
    old_engine: Callable[[dict[str, Answer]], BrokenEngine], what: Endpoint.Rotation
) -> None:
    old = old_engine({"POST /v1/token": NOT_FOUND, "POST /v1/certificate": NOT_FOUND})
    endpoint = make_endpoint(control_address=old.address, token="t", fingerprint=old.fingerprint)
    assert answers(endpoint)
    after = rotated(endpoint, what)
    assert "can't replace its token or certificate from here: update it" in after.rotation_reason
    assert (bytes(after.token_encrypted), after.fingerprint) == (endpoint.token_encrypted, old.fingerprint)


def test_a_token_entered_meanwhile_stays(engine: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    running = engine()
    endpoint = endpoint_of(running)
    entered = "the-token-that-a-user-has-just-entered"
    take_token = EngineClient.take_token

    def overtaken(client: EngineClient, token: str) -> None:
        take_token(client, token)
        values = {"control_address": endpoint.control_address, "fingerprint": endpoint.fingerprint}
        endpoint_update(endpoint=endpoint, token=entered, **values)

    monkeypatch.setattr(EngineClient, "take_token", overtaken)
    after = rotated(endpoint, TOKEN)
    assert "was changed meanwhile" in after.rotation_reason and decrypted(after.token_encrypted) == entered
    assert not old_token_is_refused(running)


def test_what_can_not_be_asked_for_is_refused_and_recorded_nowhere(engine: Start) -> None:
    running = engine()
    never = make_endpoint()
    gone = endpoint_of(running)
    archive(row=gone)
    gone.refresh_from_db()
    for endpoint, reason in ((never, "has never answered"), (gone, "is archived")):
        with pytest.raises(HostsError, match=reason):
            rotation_request(endpoint=endpoint, what=TOKEN)
    asked = make_endpoint(token="t" * 32, fingerprint=f"sha256:{'0' * 64}")
    rotation_request(endpoint=asked, what=TOKEN)
    with pytest.raises(HostsError, match="being replaced already"):
        rotation_request(endpoint=asked, what=CERTIFICATE)
    assert list(Endpoint.objects.exclude(rotation="").values_list("pk", "rotation")) == [(asked.pk, "token")]


def asked_in_a_run(run: Run, pair: Pair, what: Endpoint.Rotation) -> None:
    """Have the running worker replace it at both ends, in the middle of a trial."""
    running_trial(run, 1)
    for end in (pair.source, pair.sink):
        with acting(Actor("page", user_name="ann")):
            rotation_request(endpoint=end, what=what)
    endpoints = Endpoint.objects.filter(pk__in=(pair.source_id, pair.sink_id))
    wait_for(lambda: not endpoints.filter(rotation_ended_at=None).exists(), "the end of the rotation")
    assert set(endpoints.values_list("rotation_reason", flat=True)) == {""}


def assert_nothing_was_lost(run: Run, trials: int) -> None:
    assert (ended(run).state, run.reason) == (State.FINISHED, "")
    assert list(run.trials.values_list("state", flat=True)) == [State.FINISHED] * trials


def test_both_replaced_in_the_middle_of_a_run_lose_nothing(worker: Worker, engine_pair: tuple[Engine, Engine]) -> None:
    worker()
    pair = pair_of(*engine_pair)
    run = long_run(pair, repetitions=5)
    asked_in_a_run(run, pair, TOKEN)
    asked_in_a_run(run, pair, CERTIFICATE)
    assert run.trials.exclude(state=State.FINISHED).exists(), "the run was over before its secrets were replaced"
    assert_nothing_was_lost(run, trials=5)
    for end, running in zip((pair.source, pair.sink), engine_pair, strict=True):
        end.refresh_from_db()
        assert end.fingerprint != running.fingerprint
        assert old_token_is_refused(running) and old_token_is_refused(running, end.fingerprint)
    changed = AuditEntry.objects.filter(table="hosts_endpoint", changes__has_key="token_encrypted")
    replaced = changed.filter(action="changed").values_list("user_name", "via", "changes__token_encrypted")
    assert list(replaced) == [("ann", "page", ["…", "…"])] * 2
