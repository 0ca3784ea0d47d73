"""Gives every test session a PostgreSQL, a Valkey and a state folder of its own; loaded by `-p tests.plugin`.

pytest-django reads the settings before any conftest, so the addresses are chosen when this module is imported;
the servers themselves start with the session and end with it. Set BENCHWEB_DATABASE_URL and BENCHWEB_REDIS_URL
to use servers of your own.
"""

import gc
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchweb.ops.running import postgres, processes, valkey
from benchweb.ops.translations import compile_translations
from tests.requirements import require, write_not_run

START_SECONDS = 120
# Python's own 700 cost a sixth of the time of tests that open pages.
_ALLOCATIONS_PER_COLLECTION = 50_000

# One server for the tests of four processes, each of which may have pages and workers with pools of their own.
MORE_CONNECTIONS = {"max_connections": "200"}
HOME = Path(tempfile.mkdtemp(prefix="benchweb-test-"))
OWN_SERVERS = not os.environ.get("BENCHWEB_DATABASE_URL")
# Tells further pytest processes that the broker they find named is the first one's.
_BROKER_OF_TESTS = "BENCHWEB_TEST_BROKER"
_running: list[tuple["subprocess.Popen[bytes]", int]] = []

os.environ["BENCHWEB_HOME"] = str(HOME)
os.environ["BENCHWEB_SECRET_KEY"] = secrets.token_hex(32)
# The tests' engines are on this machine.
os.environ["BENCHWEB_ENGINE_NETWORKS"] = "127.0.0.0/8 ::1 0.0.0.0/0 ::/0"
# Who logs in may do everything, except where a test gives them a role.
os.environ["BENCHWEB_DEFAULT_ROLE"] = "admin"
# Playwright's synchronous API runs an event loop in the test's thread, where Django would refuse its ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
if OWN_SERVERS:
    os.environ["BENCHWEB_DATABASE_URL"] = postgres.url(HOME)
# Of several pytest processes each has a database of its own in the first one's PostgreSQL, but a broker has no such
# thing: the worker of one test would take the ticks and the runs of another.
if not os.environ.get("BENCHWEB_REDIS_URL") or os.environ.get(_BROKER_OF_TESTS):
    os.environ["BENCHWEB_REDIS_URL"] = valkey.url(HOME)
    os.environ[_BROKER_OF_TESTS] = "1"
OWN_BROKER = os.environ["BENCHWEB_REDIS_URL"] == valkey.url(HOME)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the servers that the environment doesn't give."""
    if session.config.option.collectonly:
        return
    compile_translations(HOME / "locale")
    # WhiteNoise warns of a folder that is not there; the browser tests fill it.
    (HOME / "static").mkdir()
    log = (HOME / "servers.log").open("wb")
    if OWN_BROKER:
        _running.append((processes.spawn(valkey.command(HOME), output=log), signal.SIGTERM))
    if OWN_SERVERS:
        _start_postgres(log.fileno())
    if OWN_BROKER:
        _await("Valkey", lambda: valkey.is_ready(HOME))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin first what takes longest: as the last of its part it would keep the other processes waiting."""
    items.sort(key=lambda item: item.get_closest_marker("begun_first") is None)


def pytest_collection_finish() -> None:
    """Leave what stands by now, half a million objects, out of each collection of garbage, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run a test only where the machine has what its `needs` marks name."""
    for mark in item.iter_markers("needs"):
        require(*mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell the test command what could not run."""
    write_not_run(terminalreporter.stats.get("skipped", []))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers and remove the state folder."""
    for process, stop_signal in reversed(_running):
        processes.stop(process, signal_number=stop_signal, patience_seconds=5)
    shutil.rmtree(HOME, ignore_errors=True)


def _start_postgres(log: int) -> None:
    data = HOME / "postgres"
    postgres.create(data, sync=False)
    # SIGQUIT drops the clients at once, and nothing here has to survive.
    command = postgres.command(data, HOME, postgres.NO_DURABILITY | MORE_CONNECTIONS)
    server = processes.spawn(command, output=log, unprivileged=True, death_signal=signal.SIGQUIT)
    _running.append((server, signal.SIGQUIT))
    _await("PostgreSQL", lambda: postgres.is_ready(data, server.pid))


def _await(name: str, condition: Callable[[], bool]) -> None:
    if not processes.wait_until(condition, timeout_seconds=START_SECONDS):
        log = (HOME / "servers.log").read_text(encoding="utf-8", errors="replace")
        pytest.exit(f"{name} did not start within {START_SECONDS} s:\n{log}", returncode=3)
