"""Runs between real engines: made, waited for."""

import time
from collections.abc import Callable
from pathlib import Path

from benchweb.hosts.models import Endpoint, Pair
from benchweb.runs.models import OPEN_STATES, Run, State
from tests.factories import make_endpoint, make_pair, make_run
from tests.processes import Engine

# Far more than anything takes that is not stuck.
PATIENCE_SECONDS = 240


def pair_of(source: Engine, sink: Engine, *, names: tuple[str, str] = ("alpha", "beta"), **fields: str) -> Pair:
    def endpoint(name: str, engine: Engine) -> Endpoint:
        values = {"token": engine.token, "fingerprint": engine.fingerprint, "data_address": "127.0.0.1"} | fields
        return make_endpoint(host_name=name, control_address=engine.control, **values)

    return make_pair(source=endpoint(names[0], source), sink=endpoint(names[1], sink))


def long_run(pair: Pair, seconds: float = 2, repetitions: int = 4) -> Run:
    """Launch a run that takes its time and hardly any of a CPU's."""
    params = {"duration_seconds": seconds, "rate_bps": 8_000_000}
    return make_run(pair=pair, repetitions=repetitions, steps=[{"kind": "tcp_stream", "params": params}])


def wait_for(condition: Callable[[], bool], what: str) -> float:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < PATIENCE_SECONDS, f"{what} did not come within {PATIENCE_SECONDS} s"
        time.sleep(0.02)
    return time.monotonic() - started


def ended(run: Run) -> Run:
    def is_final() -> bool:
        run.refresh_from_db()
        return run.state not in OPEN_STATES

    wait_for(is_final, f"the end of run {run.pk} ({run.state})")
    return run


def running_trial(run: Run, index: int) -> None:
    wait_for(lambda: run.trials.filter(index=index, state=State.RUNNING).exists(), f"trial {index} of run {run.pk}")
    time.sleep(0.5)


def children(engine: Engine) -> list[str]:
    # Each under the thread that started it.
    tasks = Path(f"/proc/{engine.process.pid}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]
