"""A pair's data path is checked between its engines: what passes, what doesn't, and what to open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from benchweb.hosts import path_checks
from benchweb.hosts.endpoints.services import endpoint_update
from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.path_checks import Passage, PathFound, PathSize, path_found
from benchweb.hosts.services import archive
from tests.factories import make_endpoint, make_pair
from tests.processes import Engine
from tests.workers.engine_client.broken_engine import BrokenEngine, answer_json
from tests.workers.engines.names import Resolver
from tests.workers.runs.real_runs import pair_of
from workers.checks import path_check
from workers.checks.path_check import path_verdict


def checked(pair: Pair) -> Pair:
    path_check.check(pair.pk)
    pair.refresh_from_db()
    return pair


@pytest.mark.django_db(transaction=True)
def test_a_free_path_passes_with_its_round_trips_and_packets(engine: Callable[..., Engine]) -> None:
    pair = checked(pair_of(engine(), engine()))
    assert (pair.path_status, pair.path_reason) == ("passes", "")
    assert pair.path_checked_at is not None
    found = found_of(pair)
    assert found.tcp.passes
    assert found.udp.passes
    assert found.udp.round_trip_seconds is not None
    assert 0 < found.udp.round_trip_seconds < 1
    assert found.forward is not None and found.backward
    assert (found.forward.mtu_bytes, found.backward.mtu_bytes) == (65_535, 65_535)
    assert found.address == "127.0.0.1"


@pytest.mark.django_db(transaction=True)
def test_a_data_port_that_is_not_there_is_told_with_what_to_open(engine: Callable[..., Engine]) -> None:
    source, sink = engine(), engine()
    pair = pair_of(source, sink)
    # Nothing listens at this address of the machine, though the sink's control does at its own.
    Endpoint.objects.filter(pk=pair.sink_id).update(data_address="127.0.0.9")
    pair = checked(Pair.objects.get(pk=pair.pk))
    assert pair.path_status == "blocked"
    assert pair.path_reason.startswith(f"TCP and UDP {sink.data_port} of beta (host) are refused at 127.0.0.9")
    found = found_of(pair)
    assert (found.tcp.fault, found.udp.passes, found.forward) == ("refused", False, None)


@pytest.mark.django_db(transaction=True)
def test_a_name_with_a_dead_address_passes_at_the_living_one_and_both_are_told(
    engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = engine()
    pair = pair_of(source, engine())
    names = Resolver(monkeypatch)
    names.set("data.test", "::1", "127.0.0.1")
    names.set("source.test", "::1", "127.0.0.1")
    Endpoint.objects.filter(pk=pair.sink_id).update(data_address="data.test")
    control = source.control.replace("127.0.0.1", "source.test")
    Endpoint.objects.filter(pk=pair.source_id).update(data_address="", control_address=control)
    pair = checked(Pair.objects.get(pk=pair.pk))
    assert pair.path_status == "passes"
    found = found_of(pair)
    assert (found.address, found.dead) == ("127.0.0.1", ["::1"])


@pytest.mark.django_db(transaction=True)
def test_an_engine_of_before_the_check_is_never_shown_as_passing(engine: Callable[..., Engine], tmp_path: Path) -> None:
    unknown = answer_json({"error": {"code": "not_found", "message": "there is no POST"}}, 404)
    old = BrokenEngine(tmp_path, {"POST /v1/path-checks": unknown})
    try:
        values = {"token": "t", "fingerprint": old.fingerprint}
        sink = make_endpoint(host_name="beta", control_address=old.address, **values)
        real = engine()
        source = make_endpoint(control_address=real.control, token=real.token, fingerprint=real.fingerprint)
        Endpoint.objects.update(answered_address=old.address)
        pair = checked(make_pair(source=source, sink=sink))
    finally:
        old.close()
    assert pair.path_status == "unchecked"
    assert "is too old for this check: update it" in pair.path_reason


@pytest.mark.django_db(transaction=True)
def test_an_engine_that_is_away_leaves_the_path_unchecked(engine: Callable[..., Engine]) -> None:
    pair = pair_of(engine(), engine())
    Endpoint.objects.filter(pk=pair.sink_id).update(control_address="127.0.0.1:1", answered_address="127.0.0.1:1")
    pair = checked(Pair.objects.get(pk=pair.pk))
    assert (pair.path_status, pair.path_found) == ("unchecked", None)
    assert "can't be reached" in pair.path_reason


@pytest.mark.django_db(transaction=True)
def test_a_name_that_came_to_mean_loopback_or_another_engine_is_refused_at_use(
    engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, sink, third = engine(), engine(listen="127.0.0.2:0"), engine(listen="127.0.0.3:0")
    pair = pair_of(source, sink)
    names = Resolver(monkeypatch)
    Endpoint.objects.filter(pk=pair.sink_id).update(data_address="data.test")
    make_endpoint(host_name="gamma", control_address=third.control)
    monkeypatch.setattr("workers.engines.resolution._is_loopback", lambda address: address == "127.0.0.1")
    names.set("data.test", "127.0.0.1")
    assert "means 127.0.0.1 now, every machine's own address" in checked(Pair.objects.get(pk=pair.pk)).path_reason
    names.set("data.test", "127.0.0.3")
    assert "means 127.0.0.3 now, the address of another engine, gamma (host)" in checked(pair).path_reason
    names.set("data.test", "127.0.0.1", "127.0.0.2")
    pair = checked(pair)
    assert (pair.path_status, found_of(pair).address) == ("passes", "127.0.0.2")


def found_of(pair: Pair) -> PathFound:
    found = path_found(pair)
    assert found is not None
    return found


def found(tcp: Passage, udp: Passage, **sizes: Any) -> PathFound:
    return PathFound(address="192.0.2.9", data_port=7411, tcp=tcp, udp=udp, **sizes)


PASSES = Passage(passes=True, round_trip_seconds=0.001)
SILENT = Passage(passes=False, fault="timed_out")
WRONG = Passage(passes=False, fault="no_answer")


@pytest.mark.parametrize(
    ("look", "arrived", "status", "words"),
    [
        (found(PASSES, PASSES), 5, "passes", ""),
        (found(PASSES, SILENT), 0, "blocked", "TCP passes, UDP doesn't: open UDP 7411 of d at 192.0.2.9 for c."),
        (found(PASSES, SILENT), 4, "blocked", "TCP passes, UDP only one way: 4 datagrams reached d"),
        (found(SILENT, PASSES), 5, "blocked", "UDP passes, TCP doesn't: open TCP 7411 of d at 192.0.2.9 for c."),
        (found(SILENT, SILENT), 0, "blocked", "Neither TCP nor UDP passes from c to 192.0.2.9: open TCP and UDP 7411"),
        (found(WRONG, SILENT), 0, "blocked", "What accepts TCP 7411 at 192.0.2.9 is not the engine of d"),
        (
            found(PASSES, PASSES, forward=PathSize(mtu_bytes=1500, is_silent=True)),
            5,
            "narrow",
            "Packets over 1,500 bytes from c to d vanish without a word: let ICMP through",
        ),
        (
            found(PASSES, PASSES, backward=PathSize(mtu_bytes=1400, is_silent=True)),
            5,
            "narrow",
            "Packets over 1,400 bytes from d to c vanish",
        ),
        (found(PASSES, PASSES, forward=PathSize(mtu_bytes=1400)), 5, "passes", ""),
    ],
)
def test_what_was_seen_becomes_a_state_and_says_what_to_open(
    look: PathFound, arrived: int, status: str, words: str
) -> None:
    said = path_verdict(look, source="c", sink="d", udp_arrived=arrived)
    assert said[0] == status
    assert said[1].startswith(words)
    assert bool(said[1]) == (status != "passes")


@pytest.mark.django_db
def test_pairs_are_due_once_both_engines_answer_and_again_after_a_while() -> None:
    pair = make_pair()
    assert path_checks.paths_claim() == []
    Endpoint.objects.update(status="answered")
    assert path_checks.paths_claim() == [pair.pk]
    assert path_checks.paths_claim() == []
    outcome = path_checks.PathOutcome("blocked", "no", found(SILENT, SILENT))
    assert path_checks.path_record(pair=pair, outcome=outcome)
    pair.refresh_from_db()
    assert pair.path_due_at is not None
    assert 100 < (pair.path_due_at - timezone.now()).total_seconds() < 130
    Pair.objects.update(path_due_at=timezone.now())
    assert path_checks.paths_claim() == [pair.pk]
    archive(row=pair)
    Pair.objects.update(path_due_at=None)
    assert path_checks.paths_claim() == []


@pytest.mark.django_db
def test_what_was_found_is_not_shown_for_ever_while_an_end_does_not_answer() -> None:
    pair = make_pair()
    Endpoint.objects.update(status="answered")
    path_checks.path_record(pair=pair, outcome=path_checks.PathOutcome("passes", "", found(PASSES, PASSES)))
    long_ago = timezone.now() - path_checks.PATH_PERIOD * 2
    Pair.objects.update(path_due_at=long_ago)
    assert path_checks.paths_expire() == 0
    Endpoint.objects.filter(pk=pair.sink_id).update(status="unreachable")
    assert path_checks.paths_expire() == 1
    assert path_checks.paths_expire() == 0
    pair.refresh_from_db()
    assert (pair.path_status, pair.path_found) == ("unchecked", None)
    assert "doesn't answer" in pair.path_reason
    Endpoint.objects.update(status="answered")
    assert path_checks.paths_claim() == [pair.pk]


@pytest.mark.django_db
def test_an_end_that_is_changed_makes_what_was_found_void() -> None:
    pair = make_pair()
    outcome = path_checks.PathOutcome("passes", "", found(PASSES, PASSES))
    path_checks.path_record(pair=pair, outcome=outcome)
    endpoint = pair.sink
    endpoint_update(endpoint=endpoint, control_address=endpoint.control_address, data_address="127.0.0.7")
    assert not path_checks.path_record(pair=pair, outcome=outcome)
    pair.refresh_from_db()
    assert (pair.path_status, pair.path_found, pair.path_due_at) == ("pending", None, None)
