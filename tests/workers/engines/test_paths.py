"""Where test traffic goes: one family for both ends, each address tried, none but the agreed ones."""

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from benchweb.hosts.models import Endpoint
from benchweb.runs.models import Run, State
from tests.factories import begun, make_endpoint, make_pair, make_run
from tests.processes import Engine
from tests.workers.engine_client.broken_engine import ABOUT, BrokenEngine, answer_json
from tests.workers.engines.names import Resolver
from workers.checks import check
from workers.engine_client import EngineRefused
from workers.engines.paths import EnginePath, Paths, paths_between
from workers.runs import run

NAMES = ("alpha", "beta")
V4, V6 = ["192.0.2.1"], ["2001:db8::1"]
SECOND = [{"kind": "tcp_rr", "params": {"duration_seconds": 0.2}}]


@pytest.mark.parametrize(
    ("source", "sink", "is_bound", "expected"),
    [
        (V4, ["2001:db8::9", "192.0.2.9"], True, [EnginePath("192.0.2.1", "192.0.2.9")]),
        (V6, ["192.0.2.9", "2001:db8::9"], True, [EnginePath("2001:db8::1", "2001:db8::9")]),
        (V4 + V6, V6, True, [EnginePath("2001:db8::1", "2001:db8::1")]),
        (
            V6 + V4,
            ["192.0.2.9", "2001:db8::9"],
            True,
            [EnginePath(V4[0], "192.0.2.9"), EnginePath(V6[0], "2001:db8::9")],
        ),
        (V4, ["2001:db8::9", "192.0.2.9"], False, [EnginePath("", "192.0.2.9"), EnginePath("", "2001:db8::9")]),
        (V4, ["2001:db8::9"], False, [EnginePath("", "2001:db8::9")]),
        (
            V4,
            [f"192.0.2.{number}" for number in range(10)],
            False,
            [EnginePath("", f"192.0.2.{each}") for each in range(4)],
        ),
    ],
)
def test_both_ends_are_of_one_family_and_the_likeliest_path_is_first(
    source: list[str], sink: list[str], is_bound: bool, expected: list[EnginePath]
) -> None:
    assert paths_between(source=source, sink=sink, is_bound=is_bound, names=NAMES) == expected


def test_ends_without_a_family_in_common_are_told_by_their_addresses() -> None:
    with pytest.raises(EngineRefused, match=r"alpha sends from 192.0.2.1 and beta has 2001:db8::1: give both a data"):
        paths_between(source=V4, sink=V6, is_bound=True, names=NAMES)


def test_paths_are_taken_in_turn_and_the_one_that_works_is_kept() -> None:
    taken = []
    paths = Paths([EnginePath("", "a"), EnginePath("", "b")])
    paths.on_change = lambda: taken.append(paths.current.sink)
    assert (paths.advance(), paths.current.sink) == (True, "b")
    assert (paths.advance(), paths.current.sink, paths.failed) == (False, "a", [])
    assert paths.advance()
    paths.settle()
    assert (paths.advance(), paths.current.sink) == (False, "b")
    assert taken == ["b", "a", "b"]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


def end(engine: Engine, host: str | None = None, **fields: Any) -> Endpoint:
    port = engine.control.rpartition(":")[2]
    values = {"token": engine.token, "fingerprint": engine.fingerprint} | fields
    return make_endpoint(control_address=f"{host or '127.0.0.1'}:{port}", **values)


def executed(source: Endpoint, sink: Endpoint) -> Run:
    made = make_run(pair=make_pair(source=source, sink=sink), steps=SECOND)
    run.execute(made.pk)
    made.refresh_from_db()
    return made


@pytest.mark.django_db(transaction=True)
def test_a_bound_source_sends_to_the_sinks_address_of_its_own_family(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    source, sink = engine(), engine(listen="[::]:0")
    names.set("sink.test", "::1", "127.0.0.1")
    done = executed(end(source, data_address="127.0.0.1"), end(sink, "sink.test"))
    assert (done.state, done.reason) == (State.FINISHED, "")
    assert done.addresses is not None
    assert done.addresses["source"] == {"control": "127.0.0.1", "data": "127.0.0.1"}
    assert done.addresses["sink"] == {"control": "::1", "data": "127.0.0.1", "data_port": sink.data_port}


@pytest.mark.django_db(transaction=True)
def test_a_sink_that_only_answers_on_ipv4_is_reached_though_its_name_has_ipv6_first(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    source, sink = engine(), engine()
    names.set("sink.test", "::1", "127.0.0.1")
    done = executed(end(source), end(sink, "sink.test"))
    assert done.addresses is not None
    assert (done.state, done.addresses["sink"]["data"]) == (State.FINISHED, "127.0.0.1")


@pytest.mark.django_db(transaction=True)
def test_the_next_address_is_tried_where_the_first_is_dead_and_is_what_the_run_records(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    source, sink = engine(), engine()
    names.set("data.test", "127.0.0.9", "127.0.0.1")
    done = executed(end(source), end(sink, data_address="data.test"))
    assert (done.state, done.reason) == (State.FINISHED, "")
    assert done.addresses is not None
    assert done.addresses["sink"]["data"] == "127.0.0.1"


@pytest.mark.django_db(transaction=True)
def test_a_run_that_reaches_none_of_the_addresses_names_them_all(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    source, sink = engine(), engine()
    names.set("data.test", "127.0.0.8", "127.0.0.9")
    done = executed(end(source), end(sink, data_address="data.test"))
    assert done.state == State.FAILED
    reason = done.trials.get().reason
    assert f"127.0.0.9:{sink.data_port} can't be reached" in reason
    assert reason.endswith("; tried in turn: 127.0.0.8, 127.0.0.9")


@pytest.mark.django_db(transaction=True)
def test_families_that_differ_end_the_run_before_it_begins(engine: Callable[..., Engine], names: Resolver) -> None:
    source, sink = engine(), engine(listen="[::]:0")
    done = executed(end(source, data_address="127.0.0.1"), end(sink, data_address="::1"))
    assert (done.state, done.addresses) == (State.NONSTART, None)
    assert "sends from 127.0.0.1 and" in done.reason


@pytest.mark.django_db(transaction=True)
def test_control_and_data_go_to_the_same_address_after_a_name_moved(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    source, old = engine(), engine()
    port = int(old.control.rpartition(":")[2])
    names.set("sink.test", "127.0.0.1")
    endpoint = end(old, "sink.test")
    assert executed(end(source), endpoint).state == State.FINISHED
    new = engine(listen=f"127.0.0.2:{port}")
    names.set("sink.test", "127.0.0.2")
    refused = executed(end(source), endpoint)
    assert refused.state == State.NONSTART
    assert f"(sink.test = 127.0.0.2:{port}) shows another certificate" in refused.reason
    Endpoint.objects.filter(pk=endpoint.pk).update(
        token_encrypted=end(new).token_encrypted, fingerprint=new.fingerprint
    )
    done = executed(end(source), endpoint)
    assert done.addresses is not None
    assert done.addresses["sink"] == {"control": "127.0.0.2", "data": "127.0.0.2", "data_port": new.data_port}
    assert done.state == State.FINISHED


@pytest.mark.django_db(transaction=True)
def test_a_run_that_another_worker_began_goes_on_at_the_addresses_that_it_began_with(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    source, sink = engine(), engine()
    names.set("sink.test", "127.0.0.2")
    made = make_run(pair=make_pair(source=end(source), sink=end(sink, "sink.test")), steps=SECOND)
    begun(made, "the worker before")
    kept = {
        "source": {"control": "127.0.0.1"},
        "sink": {"control": "127.0.0.1", "data": "127.0.0.1", "data_port": sink.data_port},
    }
    Run.objects.filter(pk=made.pk).update(lease_until=Now(), addresses=kept)
    run.execute(made.pk)
    made.refresh_from_db()
    assert (made.state, made.reason, made.addresses) == (State.FINISHED, "", kept)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["169.254.169.254", "127.0.0.1", "::1", "localhost", "::ffff:127.0.0.1"])
def test_test_traffic_is_held_to_the_networks_too(
    engine: Callable[..., Engine], settings: Settings, address: str
) -> None:
    settings.ENGINE_NETWORKS = "127.0.0.2"
    source, sink = engine(listen="127.0.0.2:0"), engine(listen="127.0.0.2:0")
    done = executed(end(source, "127.0.0.2"), end(sink, "127.0.0.2", data_address=address))
    assert (done.state, done.addresses) == (State.NONSTART, None)
    assert "could not be used" in done.reason


@pytest.fixture
def lying(tmp_path: pathlib.Path) -> Iterator[Callable[[dict[str, Any]], BrokenEngine]]:
    engines: list[BrokenEngine] = []

    def make(answer: dict[str, Any]) -> BrokenEngine:
        engines.append(BrokenEngine(tmp_path, {"PUT /v1/sessions": answer_json({"state": "prepared", **answer})}))
        return engines[-1]

    yield make
    for each in engines:
        each.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"data_port": 22}, "announces data port 22 instead of 7411, so nothing is sent there"),
        ({}, "announces data port None instead of 7411"),
        ({"data_port": "7411"}, "announces data port 7411 instead of 7411"),
        ({"data_port": 7411, "address": "10.0.0.5"}, "announces the data address 10.0.0.5 instead of 127.0.0.1"),
    ],
)
def test_a_sink_that_wants_its_traffic_elsewhere_is_refused_and_the_source_hears_of_nothing(
    engine: Callable[..., Engine], lying: Callable[[dict[str, Any]], BrokenEngine], answer: dict[str, Any], reason: str
) -> None:
    source, sink = engine(), lying(answer)
    endpoint = make_endpoint(control_address=sink.address, token="t", fingerprint=sink.fingerprint)
    done = executed(end(source), endpoint)
    assert done.state == State.FAILED
    assert reason in done.trials.get().reason
    assert [each for each in sink.requests if each.startswith("PUT")] != []


@pytest.mark.django_db(transaction=True)
def test_a_data_port_other_than_at_the_check_ends_the_run_until_it_is_checked_again(
    engine: Callable[..., Engine], tmp_path: pathlib.Path
) -> None:
    source = engine()
    sink = BrokenEngine(tmp_path, {"GET /v1/about": answer_json({**ABOUT, "data_port": 22})})
    endpoint = make_endpoint(control_address=sink.address, token="t", fingerprint=sink.fingerprint)
    Endpoint.objects.filter(pk=endpoint.pk).update(data_port=7411)
    done = executed(end(source), endpoint)
    sink.close()
    assert done.state == State.NONSTART
    assert "has data port 22, and had 7411 when it was checked" in done.reason


@pytest.mark.django_db(transaction=True)
def test_a_check_keeps_the_data_port(engine: Callable[..., Engine]) -> None:
    running = engine()
    endpoint = end(running)
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.data_port) == ("answered", running.data_port)
