"""A start without the demo, on a folder too deep for sockets: its first admin, its sockets, and kill -9."""

import http.client
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchweb.ops.running.home import Home
from tests.setup.processes import STOP_SECONDS, Up

_CODE = re.compile(r"web \| .*There is no admin yet\. Open /first-admin and enter the code [a-z0-9-]{23}")


@pytest.fixture(scope="module")
def plain(state: Path) -> Iterator[Up]:
    """Start it once for this module; the last test kills it and starts it again."""
    up = Up(state / ("x" * 60) / ("y" * 60), ("--no-demo",)).start()
    up.wait_ready()
    yield up
    if up.process is not None and up.process.poll() is None:
        up.kill()
    assert up.orphans() == []


def test_the_code_of_the_first_admin_is_printed(plain: Up) -> None:
    plain.wait_until(lambda: _CODE.search(plain.output), "the code of the first admin")
    connection = http.client.HTTPConnection("127.0.0.1", plain.port)
    connection.request("GET", "/login")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (302, "/first-admin")
    connection.close()


def test_a_home_too_deep_for_sockets_gets_a_private_folder(plain: Up, state: Path) -> None:
    sockets = Home(plain.home).sockets
    assert not sockets.is_relative_to(state)
    assert (sockets / ".s.PGSQL.5432").is_socket()
    assert sockets.stat().st_mode & 0o777 == 0o700


def test_kill_9_leaves_no_orphan_and_the_next_start_mends_what_it_left(plain: Up) -> None:
    sockets = Home(plain.home).sockets
    plain.kill()
    assert plain.orphans() == []
    assert json.loads((plain.home / "runtime.json").read_text())["pid"] == plain.pid
    # What a server leaves that got no signal: its status file, with the number of a living stranger, and its socket.
    (plain.home / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{plain.home}/postgres\n")
    (sockets / ".s.PGSQL.5432").touch()
    plain.start()
    plain.wait_ready()
    assert json.loads((plain.home / "runtime.json").read_text())["pid"] == plain.pid
    assert plain.terminate() < STOP_SECONDS
    assert not sockets.exists()
