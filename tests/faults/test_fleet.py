"""The simulated fleet speaks docs/reference/engine-protocol.md, read by the client that talks to real engines."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bench.fleet.running import RunningFleet
from benchweb.ops.running.home import PROJECT
from benchweb.results.ingest import parsed_result
from workers.engine_client import EngineClient, EngineRefused, EngineUnreachable, SessionSpec

COOKIE = "c0" * 32
PARAMS = {"duration_seconds": 0.2}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFleet]:
    fleet = RunningFleet(tmp_path_factory.mktemp("fleet"), 3)
    yield fleet
    fleet.stop()


def client(fleet: RunningFleet, number: int, token: str = "") -> EngineClient:
    host, port = fleet.engines[number].rsplit(":", 1)
    return EngineClient(
        name=f"engine {number}",
        host=host,
        port=int(port),
        token=token or fleet.token,
        fingerprint=fleet.fingerprint,
    )


def create(fleet: RunningFleet, trial: str, source: EngineClient, sink: EngineClient, **params: float) -> None:
    common: dict[str, Any] = {"kind": "udp_rr", "params": PARAMS | params, "cookie": COOKIE}
    prepared = sink.create(f"{trial}-sink", SessionSpec(role="sink", **common))
    assert prepared["state"] == "prepared"
    peer = {"address": fleet.engines[1].rsplit(":", 1)[0], "data_port": prepared["data_port"]}
    source.create(f"{trial}-source", SessionSpec(role="source", peer=peer, **common))


def schema(name: str) -> Draft202012Validator:
    path: Path = PROJECT / "engine" / "schema" / f"{name}.schema.json"
    return Draft202012Validator(json.loads(path.read_text()))


def test_a_simulated_engine_proves_that_it_knows_its_token_and_no_other(fleet: RunningFleet) -> None:
    with client(fleet, 0) as asked:
        assert asked.proves(fleet.token)
        assert not asked.proves("another")


def test_a_simulated_trial_has_the_shape_of_a_real_one_and_says_that_it_is_none(fleet: RunningFleet) -> None:
    trial = str(uuid.uuid4())
    with client(fleet, 0) as source, client(fleet, 1) as sink:
        create(fleet, trial, source, sink)
        events = list(source.events(f"{trial}-source"))
        assert [event.type for event in events] == ["state", "result"]
        for event in events:
            schema("event").validate(event.body)
        document = events[-1].body["result"]
        schema("result").validate(document)
        assert parsed_result("udp_rr", document).metrics["transactions_per_second"] > 0
        assert (document["source"]["hostname"], document["sink"]["hostname"]) == ("simulated-0000", "simulated-0001")
        assert document["source"]["virtualisation"] == "simulated"
        assert 0.2 <= document["window"]["elapsed_seconds"] < 0.4
        assert [event.type for event in sink.events(f"{trial}-sink")] == ["state", "result"]
        assert [event.id for event in source.events(f"{trial}-source", after=1)] == [2]
        source.acknowledge(f"{trial}-source")
        source.acknowledge(f"{trial}-source")
        with pytest.raises(EngineRefused) as unknown:
            list(source.events(f"{trial}-source"))
        assert unknown.value.status == 404
    assert fleet.report()["measured"][f"{trial}-source"] == 1


def test_a_session_created_twice_runs_once_and_other_content_under_its_name_is_refused(fleet: RunningFleet) -> None:
    trial = str(uuid.uuid4())
    with client(fleet, 0) as source, client(fleet, 1) as sink:
        create(fleet, trial, source, sink)
        with pytest.raises(EngineRefused) as clash:
            create(fleet, trial, source, sink, duration_seconds=9)
        assert clash.value.status == 409
        spec = SessionSpec(role="sink", kind="udp_rr", params=PARAMS, cookie=COOKIE)
        assert sink.create(f"{trial}-sink", spec)["state"] in ("prepared", "running")
        assert list(source.events(f"{trial}-source"))[-1].type == "result"
    assert fleet.report()["measured"][f"{trial}-source"] == 1


def test_a_cancelled_source_ends_and_its_sink_loses_its_peer(fleet: RunningFleet) -> None:
    trial = str(uuid.uuid4())
    with client(fleet, 0) as source, client(fleet, 1) as sink:
        create(fleet, trial, source, sink, duration_seconds=30)
        source.cancel(f"{trial}-source", "enough")
        assert list(source.events(f"{trial}-source"))[-1].body["state"] == "cancelled"
        assert list(sink.events(f"{trial}-sink"))[-1].body["code"] == "peer_lost"
    assert fleet.report()["open_sessions"] == []


def test_another_token_and_an_engine_that_refuses_or_is_away_say_so(fleet: RunningFleet) -> None:
    spec = SessionSpec(role="sink", kind="udp_rr", params=PARAMS, cookie=COOKIE)
    with client(fleet, 2, token="wrong") as stranger, pytest.raises(EngineRefused) as refused:
        stranger.about()
    assert refused.value.status == 401
    fleet.suffer(2, "refuse")
    with client(fleet, 2) as full, pytest.raises(EngineRefused, match="takes no more sessions"):
        full.create("some-sink", spec)
    fleet.suffer(2, "unreachable")
    with client(fleet, 2) as away, pytest.raises(EngineUnreachable, match="Connection refused"):
        away.about()
    fleet.suffer(2, "none")
    with client(fleet, 2) as back:
        boot_id = back.about().boot_id
        fleet.suffer(2, "reboot")
        assert back.about().boot_id != boot_id


def test_sessions_that_run_at_once_on_one_engine_are_told(fleet: RunningFleet) -> None:
    one, other = str(uuid.uuid4()), str(uuid.uuid4())
    with client(fleet, 0) as source, client(fleet, 1) as sink:
        for number, trial in enumerate((one, other)):
            common: dict[str, Any] = {"kind": "udp_rr", "params": PARAMS, "cookie": f"{number:02}" * 32}
            prepared = sink.create(f"{trial}-sink", SessionSpec(role="sink", **common))
            peer = {"address": fleet.engines[1].rsplit(":", 1)[0], "data_port": prepared["data_port"]}
            source.create(f"{trial}-source", SessionSpec(role="source", peer=peer, **common))
        for trial in (one, other):
            list(source.events(f"{trial}-source"))
    overlaps = [[number, before, after] for number, before, after in fleet.report()["overlaps"]]
    assert [0, f"{one}-source", f"{other}-source"] in overlaps
    assert [1, f"{one}-source", f"{other}-source"] in overlaps


def test_a_fleet_needs_no_settings_for_benches_are_started_without_any() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    words = [sys.executable, "-c", "import bench.fleet.running, bench.faults.scene"]
    subprocess.run(words, env=environment, cwd=PROJECT, check=True, timeout=60)
