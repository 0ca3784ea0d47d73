"""The runner: a bounded number of runs at once, and the next as soon as there is room."""

import threading

import pytest

from benchweb.ops.running.processes import wait_until
from workers import runner as module
from workers.runner import Runner

SECONDS = 60.0


class Runs:
    """Runs that go on until they are let go, in the order of their begin."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self._gates: dict[int, threading.Event] = {}

    def execute(self, run_id: int) -> None:
        gate = self._gates.setdefault(run_id, threading.Event())
        self.begun.append(run_id)
        assert gate.wait(SECONDS)

    def end(self, run_id: int) -> None:
        self._gates[run_id].set()


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setattr(module, "let_database_go", lambda: None)
    return Runs()


def begun(runs: Runs, expected: list[int]) -> bool:
    return wait_until(lambda: runs.begun == expected, timeout_seconds=SECONDS)


def test_a_run_that_finds_no_room_begins_when_another_ends(runs: Runs) -> None:
    runner = Runner(1, runs.execute)
    assert runner.take(1)
    assert begun(runs, [1])
    assert not runner.take(2)
    assert not runner.take(2)
    runs.end(1)
    assert begun(runs, [1, 2])
    runs.end(2)
    assert wait_until(lambda: runner.count == 0, timeout_seconds=SECONDS)
    assert runs.begun == [1, 2]


def test_a_run_that_waited_too_long_for_room_is_left_to_the_next_wake_up(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(1, runs.execute)
    runner.take(1)
    assert begun(runs, [1])
    runner.take(2)
    monkeypatch.setattr(module, "LOST_AFTER_SECONDS", 0.0)
    runs.end(1)
    assert wait_until(lambda: runner.count == 0, timeout_seconds=SECONDS)
    assert runs.begun == [1]


def test_a_closed_runner_takes_none_that_waits(runs: Runs) -> None:
    runner = Runner(1, runs.execute)
    runner.take(1)
    assert begun(runs, [1])
    runner.take(2)
    runner.close()
    assert not runner.take(3)
    runs.end(1)
    assert wait_until(lambda: runner.count == 0, timeout_seconds=SECONDS)
    assert runs.begun == [1]
