"""A lost engine is named: which it is, when it was restarted, and what it says itself."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from benchweb.runs.models import State
from tests.processes import Engine, killed
from tests.workers.runs.real_runs import ended, long_run, pair_of, running_trial
from workers.engine_client import About, EngineClient, EngineError, EngineUnreachable
from workers.engine_client.messages import EngineEvent
from workers.runs import lost_peer
from workers.runs.lost_peer import naming_the_end

SINK = "The engine of beta (eth1) (192.0.2.2:7410)"
CLOSED = "the other end closed the link"
RESTARTED = "the engine was restarted while this session ran; run the test again"
ABOUT = About("0.1.0", 1, "b", datetime(2026, 1, 1, tzinfo=UTC), 7411, [])


class AnEngine(EngineClient):
    """An engine that tells this of the session, and has been running for so long."""

    def __init__(self, told: dict[str, Any] | EngineError, uptime: float | None = None) -> None:
        super().__init__(name="beta (eth1)", host="192.0.2.2", port=7410, token="", fingerprint=f"sha256:{'0' * 64}")
        assert self.name == SINK
        self._told = told
        self._uptime = uptime

    def state(self, session: str) -> dict[str, Any]:
        assert session == "t-sink"
        if isinstance(self._told, EngineError):
            raise self._told
        return self._told

    def about(self) -> About:
        return replace(ABOUT, uptime_seconds=self._uptime)


def failure(code: str, reason: str = CLOSED) -> EngineEvent:
    return EngineEvent(id=3, type="failure", body={"state": "failed", "code": code, "reason": reason, "partial": None})


@pytest.fixture(autouse=True)
def _no_patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "engine" not in request.fixturenames:
        monkeypatch.setattr(lost_peer, "RESTART_SECONDS", 0)


def named(final: EngineEvent, *, source: AnEngine | None = None, sink: AnEngine | None = None) -> EngineEvent:
    nobody = AnEngine({})
    since = timedelta(seconds=60)
    return naming_the_end(final, source=source or nobody, sink=sink or nobody, session="t-sink", since=since)


@pytest.mark.parametrize(
    ("told", "end"),
    [
        ({"state": "failed", "reason": "no memory"}, f"{SINK} says: no memory"),
        ({"state": "failed", "reason": CLOSED}, f"{SINK} answers."),
        ({"state": "running", "reason": None}, f"{SINK} answers."),
        (EngineUnreachable(f"{SINK} can't be reached."), f"{SINK} can't be reached."),
    ],
)
def test_the_end_that_was_lost_is_named_with_what_it_says(told: EngineUnreachable | dict[str, Any], end: str) -> None:
    said = named(failure("peer_lost"), sink=AnEngine(told))
    assert said.reason == f"{CLOSED}; the other end: {end}"
    assert said.body["code"] == "peer_lost"


@pytest.mark.parametrize(("uptime", "when"), [(20.0, "at"), (900.0, ""), (None, "")])
def test_a_restart_is_told_with_its_time_where_the_engine_knows_it(uptime: float | None, when: str) -> None:
    told = AnEngine({"state": "failed", "reason": RESTARTED}, uptime)
    at = f" at {timezone.now() - timedelta(seconds=uptime):%H:%M} UTC" if uptime and when else ""
    of_sink = named(failure("peer_lost"), sink=told).reason
    assert of_sink == (
        f"{CLOSED}; the other end: the sink's engine, beta (eth1) (192.0.2.2:7410), was restarted{at} while the test "
        "ran; run it again"
    )
    of_source = named(failure("internal", RESTARTED), source=told).reason
    assert of_source.startswith(f"the source's engine, beta (eth1) (192.0.2.2:7410), was restarted{at} while")


def test_any_other_failure_stays_as_it_is() -> None:
    failed = failure("refused")
    assert named(failed) is failed


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", ["source", "sink"])
def test_a_real_engine_that_is_restarted_in_a_trial_is_named_with_the_time(
    engine: Callable[..., Engine], worker: Callable[[], "subprocess.Popen[bytes]"], role: str
) -> None:
    worker()
    ends = {"source": engine(), "sink": engine()}
    run = long_run(pair_of(ends["source"], ends["sink"]), seconds=6, repetitions=1)
    running_trial(run, 1)
    old = ends[role]
    killed(old.process)
    started_at = timezone.now()
    engine(old.folder.name, listen=old.control, data_port=old.data_port, token=old.token)
    done = ended(run)
    assert done.state == State.FAILED
    reason = done.trials.get().reason
    name = {"source": "alpha", "sink": "beta"}[role]
    said = f"the {role}'s engine, {name} (host) ({old.control}), was restarted at"
    times = [f"{started_at + timedelta(seconds=shift):%H:%M} UTC" for shift in (0, 4)]
    assert any(f"{said} {at}" in reason for at in times), reason
