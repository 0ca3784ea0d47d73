"""The engine's container: its command and its health check, with the real engine."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchweb.ops.running import processes
from tests.conftest import ENGINE
from tests.packaging import rules
from tests.packaging.dashboard.containers import READY_SECONDS, free_port, listens

pytestmark = pytest.mark.needs("Rust", "unshare")

SERVICE = rules.document()["services"]["engine"]
STAGE = rules.stage_of(SERVICE)


def _check(port: int) -> int:
    words = [word.replace("/7410", f"/{port}") for word in SERVICE["healthcheck"]["test"][1:]]
    return subprocess.run(words, check=False, capture_output=True, timeout=5).returncode


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """Start the image's command with a free port of loopback and folders of the test."""
    port = free_port()
    (tmp_path / "token").write_text("a" * 64, encoding="utf-8")
    (tmp_path / "state").mkdir()
    here = {
        "0.0.0.0:7410": f"127.0.0.1:{port}",
        "7411": "0",
        "/var/lib/benchweb-engine": str(tmp_path / "state"),
        "/run/secrets/engine_token": str(tmp_path / "token"),
    }
    words = STAGE.command()
    assert set(here) <= set(words)
    with (tmp_path / "log").open("wb") as log:
        process = processes.spawn([ENGINE, *(here.get(word, word) for word in words)], output=log)
    assert processes.wait_until(lambda: listens(port), timeout_seconds=READY_SECONDS), (tmp_path / "log").read_text()
    yield port, process
    processes.stop(process, signal_number=signal.SIGTERM, patience_seconds=60)


def test_the_engine_is_healthy_until_it_ends(served: tuple[int, "subprocess.Popen[bytes]"]) -> None:
    port, process = served
    assert _check(port) == 0
    assert processes.stop(process, signal_number=signal.SIGTERM, patience_seconds=60)
    assert _check(port) == 1


def test_the_engines_secret_and_state_are_where_its_command_looks() -> None:
    words = STAGE.command()
    assert f"/run/secrets/{SERVICE['secrets'][0]}" in words
    assert SERVICE["volumes"][0].partition(":")[2] in words
    assert f"--mode 0700 {SERVICE['volumes'][0].partition(':')[2]}" in STAGE.arguments("RUN")[0]
    assert STAGE.command("ENTRYPOINT") == ["benchweb-engine"]


def test_measured_traffic_passes_no_bridge() -> None:
    assert SERVICE["network_mode"] == "host"
    assert "ports" not in SERVICE
