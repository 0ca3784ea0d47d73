"""The command on the run page, typed into a shell, repeats the trial against a real engine."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchweb.charts.run.reproduce import TOKEN_FILE, engine_command
from benchweb.runs.models import Trial
from tests.conftest import ENGINE
from tests.factories import make_endpoint, make_pair, make_run
from tests.processes import Engine

pytestmark = [pytest.mark.django_db, pytest.mark.needs("Rust")]

PARAMS = {
    "message_size_bytes": 1024,
    "duration_seconds": 0.2,
    "nodelay": True,
    "direction": "reverse",
    "congestion_control": "reno",
    "source_cpus": "0",
}


def shell(command: str, token_file: Path) -> "subprocess.CompletedProcess[str]":
    command = command.replace("benchweb-engine", str(ENGINE), 1).replace(TOKEN_FILE, str(token_file))
    return subprocess.run(f"{command} --json", check=False, shell=True, capture_output=True, text=True, timeout=20)


def trial_on(engine: Engine, **sink_fields: Any) -> Trial:
    sink = make_endpoint(control_address=engine.control, token=engine.token, **sink_fields)
    run = make_run(pair=make_pair(sink=sink), steps=[{"kind": "tcp_stream", "params": PARAMS}])
    return run.trials.get()


def command_of(trial: Trial) -> str:
    return engine_command(pair=trial.run.pair, kind=trial.kind, params=trial.params)


@pytest.mark.parametrize("data_address", ["", "127.0.0.1", "localhost"])
def test_the_command_of_a_trial_runs_it_with_the_same_parameters(
    engine: Callable[..., Engine], data_address: str
) -> None:
    sink = engine()
    trial = trial_on(sink, data_address=data_address, fingerprint=sink.fingerprint)
    done = shell(command_of(trial), sink.folder / "token")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["kind"] == "tcp_stream"
    assert {name: result["params"][name] for name in PARAMS} == PARAMS
    assert result["metrics"]["throughput_bps"] > 0


def test_the_command_refuses_an_engine_with_another_certificate(engine: Callable[..., Engine]) -> None:
    sink = engine()
    trial = trial_on(sink, fingerprint="sha256:" + "00" * 32)
    done = shell(command_of(trial), sink.folder / "token")
    assert done.returncode != 0
    assert "fingerprint" in done.stderr
