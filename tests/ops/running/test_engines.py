"""The demo's engines: what answers on an engine's address is believed only when it is that engine."""

import json
import signal
import socket
from pathlib import Path

import pytest

from benchweb.ops.running import engines, processes
from benchweb.ops.running.home import Home

START_SECONDS = 60


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    return home


def announce(home: Home, control: str) -> None:
    folder = engines.state_folder(home, "a")
    folder.mkdir(parents=True)
    told = {"control": control, "data_port": 1, "fingerprint": f"sha256:{'0' * 64}"}
    (folder / "listening.json").write_text(json.dumps(told))


@pytest.mark.needs("Rust")
def test_an_engine_answers_from_its_start_to_its_end(home: Home) -> None:
    assert not engines.answers(home, "a")
    with (home.folder / "log").open("wb") as log:
        process = processes.spawn(engines.program(home, "a").command(), output=log)
    try:
        assert processes.wait_until(lambda: engines.answers(home, "a"), timeout_seconds=START_SECONDS)
    finally:
        processes.stop(process, signal_number=signal.SIGTERM, patience_seconds=START_SECONDS)
    assert not engines.answers(home, "a")


@pytest.mark.needs("Rust")
def test_an_engine_on_the_port_of_another_is_not_that_one(home: Home) -> None:
    with (home.folder / "log").open("wb") as log:
        process = processes.spawn(engines.program(home, "b").command(), output=log)
    try:
        assert processes.wait_until(lambda: engines.answers(home, "b"), timeout_seconds=START_SECONDS)
        other = engines.listening(home, "b")
        assert other
        announce(home, other.control)
        assert not engines.answers(home, "a")
    finally:
        processes.stop(process, signal_number=signal.SIGTERM, patience_seconds=START_SECONDS)


def test_a_stranger_on_the_port_of_the_last_time_is_no_engine(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        announce(home, f"127.0.0.1:{stranger.getsockname()[1]}")
        assert not engines.answers(home, "a")
