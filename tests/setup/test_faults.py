"""Faults of the start: each told in one sentence or mended, nothing lost, nothing left behind."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchweb.ops.running.home import PROJECT, Home
from tests.setup.processes import STOP_SECONDS, Up

# How far a start has come, step by step: each kill leaves what the one before didn't.
MOMENTS: dict[str, Callable[[Up], object]] = {
    "the state folder is there": lambda up: up.home.exists(),
    "the database's folder is begun": lambda up: list(up.home.glob("postgres.new-*/PG_VERSION")),
    "the database's folder is being filled": lambda up: list(up.home.glob("postgres.new-*/base/4")),
    "the database's folder is there": lambda up: (up.home / "postgres").exists(),
    "the database starts": lambda up: (up.home / "postgres" / "postmaster.pid").exists(),
    "the database is being prepared": lambda up: up.children_named("manage.py prepare"),
    "the database is prepared": lambda up: (up.home / "stamps" / "prepared").exists(),
    "the pages start": lambda up: up.children_named("uvicorn"),
    "the demo is being filled": lambda up: up.children_named("manage.py demo"),
    "the demo is filled": lambda up: (up.home / "stamps" / "demo").exists(),
}


def test_a_port_in_use_is_named_with_the_option_that_helps(up: Callable[..., Up]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = up("port", port=port)
        assert refused.wait() == 1
    assert refused.output == (
        f"up: Port {port} is in use: choose another with --port, for example --port {port + 1}.\n"
    )
    assert not (refused.home / "postgres").exists()


def test_a_state_folder_that_cannot_be_written_is_named(state: Path) -> None:
    (state / "file").write_text("in the way")
    refused = run_up(state / "file")
    assert refused.returncode == 1
    assert refused.stdout.startswith(f"up: The state folder {state}/file can't be written (File exists): ")


def test_an_option_that_is_no_port_is_refused(up: Callable[..., Up]) -> None:
    refused = up("bad-port", "--port", "70000")
    assert refused.wait() == 2
    assert "70000 isn't a port: give a number from 1 to 65535" in refused.output


def test_a_foreign_folder_in_the_place_of_the_sockets_is_refused(state: Path) -> None:
    home = Home(state / ("z" * 120))
    home.sockets.mkdir(mode=0o755)
    home.sockets.chmod(0o755)
    try:
        result = run_up(home.folder)
        assert result.returncode == 1
        assert result.stdout == (
            f"up: {home.sockets} exists but isn't a private folder of yours: remove it and start again.\n"
        )
    finally:
        shutil.rmtree(home.sockets)


def test_up_killed_at_ten_moments_of_its_start_goes_on_at_the_next(up: Callable[..., Up]) -> None:
    for moment, is_there in MOMENTS.items():
        killed = up("killed-early")
        killed.wait_until(partial(is_there, killed), moment)
        killed.kill()
        assert killed.orphans() == [], moment
    last = up("killed-early")
    last.wait_ready()
    assert len(last.json("/api/v1/pairs")["items"]) == 2
    assert len(last.json("/api/v1/runs")["items"]) == 1
    assert last.terminate() < STOP_SECONDS


def run_up(folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWEB_")}
    environment |= {"BENCHWEB_HOME": str(folder), "BENCHWEB_SET_UP": "1"}
    return subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
