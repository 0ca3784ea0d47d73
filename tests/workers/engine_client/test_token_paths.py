"""Which engine gets which token, on every path that sends one: check, probe, run, first contact, kept connections."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchweb.hosts.endpoints.services import endpoint_pin, endpoint_update
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint
from tests.factories import make_endpoint, make_pair, make_run
from tests.workers.engine_client.broken_engine import BrokenEngine, answer_json
from workers.checks import check, probe
from workers.engine_client import EngineRefused, PresentedCertificate
from workers.engines import connections
from workers.engines.connections import shared_client
from workers.runs import run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[[], BrokenEngine]


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Make]:
    """Make engines that keep every token sent to them, each with a certificate of its own."""
    made: list[BrokenEngine] = []

    def make() -> BrokenEngine:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        refusing = {"PUT /v1/sessions": answer_json({"error": "no"}, status=500)}
        made.append(BrokenEngine(folder, refusing))
        made[-1].tokens = ("the-token",)
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def endpoint_of(engine: BrokenEngine, **fields: str) -> Endpoint:
    return make_endpoint(control_address=engine.address, **({"token": "the-token"} | fields))


def everything_asks(endpoint: Endpoint) -> None:
    """Check, probe and run: all that sends a token to an engine."""
    check.check(endpoint.pk)
    probe.probe([endpoint.pk])
    run.execute(make_run(pair=make_pair(source=Endpoint.objects.get(pk=endpoint.pk))).pk)
    check.check(endpoint.pk)


def test_another_engine_behind_the_address_gets_nothing(listener: Make) -> None:
    pinned, other = listener(), listener()
    endpoint = endpoint_of(pinned, fingerprint=pinned.fingerprint)
    everything_asks(endpoint)
    assert pinned.bearers == ["the-token"]
    # As when a name or an address moved to another machine.
    Endpoint.objects.update(control_address=other.address)
    everything_asks(endpoint)
    assert (other.bearers, other.requests) == ([], [])
    assert Endpoint.objects.get(pk=endpoint.pk).fingerprint == pinned.fingerprint


def test_a_listener_that_somebody_points_an_endpoint_to_gets_nothing(listener: Make) -> None:
    pinned, other = listener(), listener()
    endpoint = endpoint_of(pinned, fingerprint=pinned.fingerprint)
    for fingerprint in (other.fingerprint, pinned.fingerprint, ""):
        with pytest.raises(HostsError):
            endpoint_update(endpoint=endpoint, control_address=other.address, fingerprint=fingerprint)
    everything_asks(endpoint)
    endpoint_update(endpoint=endpoint, control_address=other.address, fingerprint="", token="its-own")
    everything_asks(endpoint)
    assert (pinned.bearers, other.bearers) == (["the-token"], [])
    other.tokens = ("its-own",)
    everything_asks(endpoint)
    assert (pinned.bearers, other.bearers) == (["the-token"], ["its-own"])


def test_a_certificate_seen_and_pinned_with_a_token_gets_that_token_only(listener: Make) -> None:
    other = listener()
    endpoint = endpoint_of(other, fingerprint="sha256:" + "0" * 64)
    everything_asks(endpoint)
    assert Endpoint.objects.get(pk=endpoint.pk).seen_fingerprint == other.fingerprint
    with pytest.raises(HostsError):
        endpoint_pin(endpoint=endpoint, fingerprint=other.fingerprint, token="")
    everything_asks(endpoint)
    assert other.bearers == []
    endpoint_pin(endpoint=endpoint, fingerprint=other.fingerprint, token="entered-again")
    everything_asks(endpoint)
    assert other.bearers == ["entered-again"]


def test_a_first_contact_overtaken_by_a_change_sends_nothing_to_the_former_address(
    listener: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, new = listener(), listener()
    read_before = endpoint_of(former)

    def shown_late(**where: object) -> PresentedCertificate:
        endpoint_update(endpoint=read_before, control_address=new.address, fingerprint=new.fingerprint, token="its-own")
        return PresentedCertificate(former.fingerprint, "127.0.0.1")

    monkeypatch.setattr(connections, "presented_certificate", shown_late)
    with connections.client_for(read_before) as client:
        client.about()
    assert (former.bearers, new.bearers) == ([], ["its-own"])


def test_a_pin_dropped_during_the_first_contact_leaves_nobody_to_send_to(
    listener: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = listener()
    read_before = endpoint_of(engine)

    def shown_late(**where: object) -> PresentedCertificate:
        endpoint_update(endpoint=read_before, control_address=engine.address, token="newer")
        return PresentedCertificate(engine.fingerprint, "127.0.0.1")

    monkeypatch.setattr(connections, "presented_certificate", shown_late)
    with pytest.raises(EngineRefused, match="no pinned certificate"), shared_client(read_before):
        pass
    assert engine.bearers == []


def test_a_refused_token_is_read_again_only_for_the_same_address_and_certificate(listener: Make) -> None:
    engine, elsewhere = listener(), listener()
    engine._answers["GET /v1/about"] = answer_json({"error": {"code": "unauthorized", "message": "no"}}, status=401)
    endpoint = endpoint_of(engine, fingerprint=engine.fingerprint)
    with shared_client(endpoint) as client:
        endpoint_update(
            endpoint=endpoint, control_address=elsewhere.address, fingerprint=engine.fingerprint, token="not-for-it"
        )
        with pytest.raises(EngineRefused):
            client.about()
        address, other = engine.address, "sha256:" + "0" * 64
        endpoint_update(endpoint=endpoint, control_address=address, fingerprint=other, token="not-for-it-either")
        with pytest.raises(EngineRefused):
            client.about()
        assert engine.bearers == ["the-token"]
        endpoint_update(endpoint=endpoint, control_address=address, fingerprint=engine.fingerprint, token="for-it")
        with pytest.raises(EngineRefused):
            client.about()
    assert (engine.bearers, elsewhere.bearers) == (["the-token", "for-it"], [])


def test_a_kept_connection_is_not_used_with_another_token(listener: Make) -> None:
    engine = listener()
    endpoint = endpoint_of(engine)
    for token in ("first", "second"):
        endpoint_update(endpoint=endpoint, control_address=engine.address, fingerprint=engine.fingerprint, token=token)
        endpoint.refresh_from_db()
        with shared_client(endpoint) as client:
            client.about()
    assert engine.bearers == ["first", "second"]
