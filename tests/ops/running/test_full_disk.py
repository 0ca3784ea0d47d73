"""A disk without room ends nothing for good: `up` stays, and what ended comes back once there is room."""

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from benchweb.ops.running import postgres
from benchweb.ops.running.home import Home
from tests.setup.processes import STOP_SECONDS, Up

COME_BACK_SECONDS = 180
FILLER = "filler"
LOST = "lines could not be written here: No space left on device"


@pytest.fixture
def on_small_disk(small_disk: Callable[[str], Path]) -> Iterator[Up]:
    """Return `up` with all that it writes on a disk of its own: state folder and console."""
    up = Up(small_disk("400m") / "home", ("--no-demo",)).start()
    yield up
    if up.process is not None and up.process.poll() is None:
        up.kill()
    assert up.orphans() == []


def fill(folder: Path) -> None:
    """Leave no byte of room."""
    with (folder / FILLER).open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 1_000_000):
            pass
        while file.write(b"\0"):
            pass


def write_until_refused(home: Home) -> None:
    """Make the database write its log until its disk is full: it ends then, and can't start again."""
    with contextlib.suppress(psycopg.Error), psycopg.connect(postgres.url(home.sockets), autocommit=True) as connection:
        while True:
            connection.execute("select pg_logical_emit_message(true, 'filler', repeat('x', 1000000))")


def until(condition: Callable[[], bool], up: Up, *, full: Path | None = None) -> None:
    """Wait for something that `up` has to be there for; a `full` disk is kept so."""
    give_up_at = time.monotonic() + COME_BACK_SECONDS
    while not condition():
        if full is not None:
            fill(full)
        assert up.process is not None and up.process.poll() is None, up.output
        assert time.monotonic() < give_up_at, up.output
        time.sleep(0.1)


def test_a_start_that_finds_no_descriptor_is_tried_again(on_small_disk: Up) -> None:
    up = on_small_disk
    up.wait_ready()
    usual = resource.prlimit(up.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(up.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    os.kill(up.child("uvicorn"), signal.SIGKILL)
    until(lambda: "web can't be started: [Errno 24] Too many open files; starting it again in 1 s" in up.output, up)
    resource.prlimit(up.pid, resource.RLIMIT_NOFILE, usual)
    up.wait_ready()


def test_up_outlives_a_full_disk_and_everything_comes_back_with_the_room(on_small_disk: Up) -> None:
    up = on_small_disk
    up.wait_ready()
    home, disk = Home(up.home), up.home.parent
    database, web = up.child("postgres"), up.child("uvicorn")
    fill(disk)
    write_until_refused(home)
    # Each start fails for want of room; it, and what the worker says of it, is told to files that take nothing.
    until(lambda: database not in up.children_named("postgres"), up, full=disk)
    os.kill(web, signal.SIGKILL)
    until(lambda: up.children_named("uvicorn") not in ([], [web]), up, full=disk)
    until(lambda: up.status("/livez") == 200, up, full=disk)
    assert up.status("/readyz") == 503
    (disk / FILLER).unlink()
    up.wait_ready()
    until(lambda: LOST in up.output, up)
    assert up.terminate() < STOP_SECONDS
    assert up.process is not None and up.process.returncode == 0
