"""An engine's token is replaced while a run goes on: its later trials use the new one. Real engines, a real worker."""

import json
import secrets
import subprocess
from collections.abc import Callable, Iterator

import pytest

from benchweb.hosts.endpoints.services import endpoint_update
from benchweb.hosts.models import Endpoint, Pair
from benchweb.runs.models import Run, State
from tests.conftest import ENGINE
from tests.factories import make_run
from tests.processes import Engine, killed, stopped
from tests.workers.runs.real_runs import ended, pair_of, running_trial, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
Worker = Callable[[], "subprocess.Popen[bytes]"]
Restart = Callable[..., None]


@pytest.fixture
def restarted() -> Iterator[Restart]:
    """Start an engine again at the same address, with the same certificate and these tokens."""
    processes: dict[str, subprocess.Popen[bytes]] = {}

    def restart(engine: Engine, *tokens: str) -> None:
        killed(processes.pop(engine.control, engine.process))
        (engine.folder / "token").write_text("\n".join(tokens))
        command = [str(ENGINE), "serve", "--listen", engine.control, "--data-port", str(engine.data_port)]
        command += ["--state-dir", str(engine.folder / "state"), "--token-file", str(engine.folder / "token")]
        with (engine.folder / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        processes[engine.control] = process
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["fingerprint"] == engine.fingerprint

    yield restart
    for process in processes.values():
        stopped(process)


def entered(endpoint: Endpoint, token: str) -> None:
    """Enter a token in the dashboard, as the page and the API do."""
    endpoint.refresh_from_db()
    endpoint_update(
        endpoint=endpoint,
        control_address=endpoint.control_address,
        fingerprint=endpoint.fingerprint,
        data_address=endpoint.data_address,
        token=token,
    )


def paused_run(pair: Pair, trials: int, pause_seconds: float) -> Run:
    steps = [{"kind": "tcp_rr", "params": {"duration_seconds": 1}}]
    return make_run(pair=pair, steps=steps, repetitions=trials, pause_seconds=pause_seconds)


def finished_trial(run: Run, index: int) -> None:
    wait_for(lambda: run.trials.filter(index=index, state=State.FINISHED).exists(), f"trial {index}")


def test_tokens_replaced_between_two_trials_cost_none(
    worker: Worker, engine_pair: tuple[Engine, Engine], restarted: Restart
) -> None:
    worker()
    pair = pair_of(*engine_pair)
    run = paused_run(pair, trials=3, pause_seconds=5)
    finished_trial(run, 1)
    for end, engine in zip((pair.source, pair.sink), engine_pair, strict=True):
        token = secrets.token_hex(32)
        restarted(engine, token)
        entered(end, token)
    ended(run)
    assert (run.state, run.reason) == (State.FINISHED, "")


def test_a_token_replaced_during_a_trial_costs_that_trial_only(
    worker: Worker, engine_pair: tuple[Engine, Engine], restarted: Restart
) -> None:
    worker()
    pair = pair_of(*engine_pair)
    run = paused_run(pair, trials=3, pause_seconds=3)
    running_trial(run, 1)
    token = secrets.token_hex(32)
    restarted(engine_pair[1], token)
    # Entered a moment too late for this trial.
    wait_for(lambda: run.trials.filter(index=1).exclude(state=State.RUNNING).exists(), "the end of trial 1")
    entered(pair.sink, token)
    ended(run)
    assert list(run.trials.values_list("state", flat=True)) == [State.FAILED, State.FINISHED, State.FINISHED]


def test_two_tokens_in_the_file_let_a_rotation_lose_nothing(
    worker: Worker, engine_pair: tuple[Engine, Engine], restarted: Restart
) -> None:
    old, new = engine_pair[1].token, secrets.token_hex(32)
    restarted(engine_pair[1], old, new)
    worker()
    pair = pair_of(*engine_pair)
    run = paused_run(pair, trials=4, pause_seconds=2)
    # In the middle of a trial: its session is the old token's, and stays so to its end.
    running_trial(run, 1)
    entered(pair.sink, new)
    finished_trial(run, 2)
    restarted(engine_pair[1], new)
    ended(run)
    assert (run.state, run.reason) == (State.FINISHED, "")
