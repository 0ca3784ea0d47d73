"""An engine's host whose wall clock is stepped by an hour while it measures."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.faults.clocks import STEP_SECONDS, Clock
from bench.rig import loopback
from bench.truth.ground.topology import ENGINE

pytestmark = pytest.mark.needs("Rust", "unshare")

SECONDS = 2.0


def measured_while(sink: dict[str, str], folder: Path, happens: Callable[[], object]) -> dict[str, Any]:
    """Return the result of a tcp_rr of two seconds to the engine, in whose middle something happens."""
    (folder / "peer-token").write_text(sink["token"])
    words: list[str | Path] = [
        ENGINE,
        "run",
        "tcp_rr",
        "--peer",
        sink["control"],
        "--token-file",
        folder / "peer-token",
        "--json",
    ]
    process = subprocess.Popen([*words, "--set", f"duration_seconds={SECONDS}"], stdout=subprocess.PIPE)
    time.sleep(SECONDS / 2)
    happens()
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    document: dict[str, Any] = json.loads(output)
    return document


def test_an_hours_step_of_an_engines_clock_is_said_and_changes_no_duration(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    with loopback.engines(tmp_path / "engines", 1, {**os.environ, **clock.environment}) as (sink,):
        forth = measured_while(sink, tmp_path, lambda: clock.step(STEP_SECONDS))
        back = measured_while(sink, tmp_path, lambda: clock.step(-STEP_SECONDS))
        still = measured_while(sink, tmp_path, lambda: None)
    for result in (forth, back):
        assert "clock_step" in result["flags"]
        assert SECONDS - 0.2 < result["window"]["elapsed_seconds"] < SECONDS + 30
        assert result["metrics"]["transactions_per_second"] > 0
    assert "clock_step" not in still["flags"]
