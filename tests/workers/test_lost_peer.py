"""A lost peer is named: which engine it was, and what it says itself."""

from typing import Any

import pytest

from workers.engine_client import EngineError, EngineUnreachable
from workers.engine_client.messages import Event
from workers.lost_peer import naming_the_other_end

SINK = "The engine of beta (eth1) (192.0.2.2:7410)"
CLOSED = "the other end closed the link"
RESTARTED = "the engine was restarted while this session ran; run the test again"


class Sink:
    """A sink's engine that tells this of the session."""

    name = SINK

    def __init__(self, told: dict[str, Any] | EngineError) -> None:
        self._told = told

    def state(self, session: str) -> dict[str, Any]:
        assert session == "t-sink"
        if isinstance(self._told, EngineError):
            raise self._told
        return self._told


def failure(code: str) -> Event:
    return Event(id=3, type="failure", body={"state": "failed", "code": code, "reason": CLOSED, "partial": None})


@pytest.mark.parametrize(
    ("told", "end"),
    [
        ({"state": "failed", "reason": RESTARTED}, f"{SINK} says: {RESTARTED}"),
        ({"state": "failed", "reason": CLOSED}, f"{SINK} answers."),
        ({"state": "running", "reason": None}, f"{SINK} answers."),
        (EngineUnreachable(f"{SINK} can't be reached."), f"{SINK} can't be reached."),
    ],
)
def test_the_end_that_was_lost_is_named_with_what_it_says(told, end):
    said = naming_the_other_end(failure("peer_lost"), Sink(told), "t-sink")
    assert said.reason == f"{CLOSED}; the other end: {end}"
    assert said.body["code"] == "peer_lost"


def test_any_other_failure_stays_as_it_is():
    failed = failure("refused")
    assert naming_the_other_end(failed, Sink({}), "t-sink") is failed
