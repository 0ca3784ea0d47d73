"""Fixtures for whole-system tests: real engines, a real Celery worker, the real web server, a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zoneinfo
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import connection, transaction
from django.utils import translation
from pytest_django import DjangoDbBlocker

from benchweb.accounts import hashing, throttle
from benchweb.imports.own_kinds import definitions
from benchweb.ops.setup.requirements import CHROMIUM
from benchweb.schedules.timing.localtime import zones_forget
from benchweb.site.installation import notice
from benchweb.site.values import chosen
from tests import databases
from tests.forked import ForkServer
from tests.plugin import OWN_SERVERS
from tests.processes import Engine, begun_fork, said_by, started, stopped
from tests.requirements import require
from tests.schedules.slots.zone_rules import Zones

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "engine" / "target" / "release" / "benchweb-engine"
_PATIENCE_MILLISECONDS = 60_000
# Chromium on a closed network tries to phone home at every start, many times a minute.
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Django's count of rounds takes half a second of a CPU for each password.
hashing.PooledPasswordHasher.iterations = 1

FOLLOWED = (definitions, chosen, notice)
# Tests that are being collected have no database.
for followed in FOLLOWED:
    followed.forget()


@pytest.fixture(autouse=True)
def values_of_one_test() -> Iterator[None]:
    """Forget with the test's database what was read from it."""
    yield
    for followed in FOLLOWED:
        followed.forget()


@dataclass(frozen=True)
class Web:
    """A web server that answers."""

    process: "subprocess.Popen[bytes]"
    url: str

    @classmethod
    def start(cls, environment: dict[str, str]) -> "Web":
        """Start one on a free port and wait for its first answer."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "uvicorn", "benchweb.asgi:application", "--port", str(port)]
        command += [
            "--http",
            "benchweb.serving.connections:BoundedProtocol",
            "--no-proxy-headers",
            "--timeout-graceful-shutdown",
            "1",
        ]
        # pytest's own: `up` leaves it to the application.
        environment = {name: value for name, value in environment.items() if name != "DJANGO_SETTINGS_MODULE"}
        process = started(command, environment, ready=b"Uvicorn running")
        url = f"http://127.0.0.1:{port}"
        _await_answer(f"{url}/login")
        return cls(process, url)


def _await_answer(url: str) -> None:
    give_up_at = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)


@pytest.fixture(autouse=True)
def no_language_of_an_earlier_reader() -> Iterator[None]:
    """Leave each test without a language: a page's stays with the thread, as Django's middleware sets it."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def counters_of_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count attempts of each test apart: keys of users and addresses come back in the next one."""
    prefix = f"test-{uuid4().hex}"
    for name, options in settings.CACHES.items():
        monkeypatch.setitem(options, "KEY_PREFIX", prefix)
        monkeypatch.setattr(caches[name], "key_prefix", prefix)


@pytest.fixture
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold the clock of counted attempts a minute into its window, which would else end in the middle of a test."""
    begin = int(time.time()) // throttle.WINDOW_SECONDS * throttle.WINDOW_SECONDS
    clock = SimpleNamespace(time=lambda: begin + 60.0, monotonic=time.monotonic)
    monkeypatch.setattr("benchweb.accounts.throttle.time", clock)


@pytest.fixture
def small_disk() -> Iterator[Callable[[str], Path]]:
    """Return a function that makes a disk of a size such as `64k`, which a test may fill; it is gone afterwards."""
    require("mounts")
    made: list[Path] = []

    def make(size: str) -> Path:
        # Not in `tmp_path`: sockets need a short path.
        folder = Path(tempfile.mkdtemp(prefix="bw-disk-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", folder], check=True)
        made.append(folder)
        return folder

    yield make
    for folder in made:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    """Return a function that starts a real engine on free ports of 127.0.0.1 and waits until it listens."""
    require("Rust")
    engines: list[Engine] = []

    def start(name: str = "", binary: Path = ENGINE, **options: Any) -> Engine:
        folder = tmp_path / (name or f"engine-{len(engines)}")
        engines.append(Engine.start(binary, folder, **options))
        return engines[-1]

    yield start
    for each in engines:
        stopped(each.process)


@pytest.fixture
def engine_pair(engine: Callable[..., Engine]) -> tuple[Engine, Engine]:
    """Return two running engines: source and sink."""
    return engine("source"), engine("sink")


@pytest.fixture
def environment_of_test(transactional_db: None) -> dict[str, str]:
    """Return the environment in which a child process works on the test's own database."""
    name = connection.settings_dict["NAME"]
    url = urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}").geturl()
    return {**os.environ, "BENCHWEB_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def zones(tmp_path: Path) -> Iterator[Zones]:
    """Read time zones from a folder of this test first."""
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([str(tmp_path), *before])
    zones_forget()
    yield Zones(tmp_path)
    zoneinfo.reset_tzpath(before)
    zones_forget()


@pytest.fixture(scope="session")
def fork_servers() -> Iterator[Callable[[str, dict[str, str]], ForkServer]]:
    """Return a function that gives what forks a worker or a beat in an environment, and goes on from test to test."""
    running: dict[frozenset[tuple[str, str]], ForkServer] = {}

    def forking(module: str, environment: dict[str, str]) -> ForkServer:
        key = frozenset({*_lasting(environment), ("", module)})
        if key not in running or not running[key].is_running():
            running[key] = ForkServer(environment, module)
        return running[key]

    yield forking
    for each in running.values():
        each.close()


@pytest.fixture
def worker(
    environment_of_test: dict[str, str], fork_servers: Callable[[str, dict[str, str]], ForkServer]
) -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
    """Return a function that starts a real Celery worker, ready for work; a beat runs beside the first one."""
    processes: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        beats = fork_servers("workers.beat", {**environment_of_test, "DJANGO_SETTINGS_MODULE": ""})
        workers = fork_servers("workers.app", {**environment_of_test, "CELERY_SKIP_CHECKS": "1"})
        starting = []
        if not processes:
            beat = ["-A", "workers.beat", "beat", "--loglevel", "INFO", "--pidfile", ""]
            starting.append(begun_fork(beats, beat, ready=b"beat: Starting"))
        command = ["-A", "workers.app", "worker", "--loglevel", "INFO", "--pool", "threads"]
        starting.append(begun_fork(workers, command, ready=b" ready."))
        processes.extend(wait() for wait in starting)
        return processes[-1]

    yield start
    for process in processes:
        stopped(process)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Work on a copy of the database that is migrated once for all processes of the run."""
    with django_db_blocker.unblock():
        databases.copy_template()
    yield
    with django_db_blocker.unblock():
        databases.drop_copy()


@pytest.fixture(scope="module")
def rows_of_a_module(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep what fixtures of a module write for all its tests, each of which takes back what itself wrote.

    No test of such a module may have a transaction of its own. Give each its own objects of the rows.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def static_files() -> None:
    """Collect the built bundle, as `up` does."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "benchweb.settings"}
    command = [sys.executable, "-m", "django", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(command, env=environment, check=True, timeout=60)


@pytest.fixture(scope="session")
def webs(django_db_setup: None) -> Iterator[dict[frozenset[tuple[str, str]], Web]]:
    """Web servers that go on from test to test, by their environment: to start one takes longer than most tests."""
    running: dict[frozenset[tuple[str, str]], Web] = {}
    yield running
    for each in running.values():
        stopped(each.process)


@pytest.fixture
def web(
    environment_of_test: dict[str, str], static_files: None, webs: dict[frozenset[tuple[str, str]], Web]
) -> Iterator[str]:
    """Serve the pages and the API by uvicorn, as `up` does; gives the URL without a slash at its end."""
    key = _lasting(environment_of_test)
    if key not in webs or webs[key].process.poll() is not None:
        webs[key] = Web.start(environment_of_test)
    told = len(said_by(webs[key].process))
    yield webs[key].url
    print(said_by(webs[key].process)[told:])
    _await_idle_database()
    _win_deadlocks()


def _lasting(environment: dict[str, str]) -> frozenset[tuple[str, str]]:
    """Return what of an environment doesn't differ from test to test by itself."""
    return frozenset(item for item in environment.items() if not item[0].startswith("PYTEST_"))


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Start Debian's Chromium once."""
    require("Chromium")
    from playwright.sync_api import expect, sync_playwright

    # As patient as the actions of a page: a busy machine's workers take their time.
    expect.set_options(timeout=_PATIENCE_MILLISECONDS)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which(CHROMIUM), args=[*sandbox, *QUIET])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: "Browser", web: str) -> "Iterator[Page]":
    """Open a page with a base URL of the served site; a script error on it fails the test."""
    context = browser.new_context(base_url=web)
    context.set_default_timeout(_PATIENCE_MILLISECONDS)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def _await_idle_database() -> None:
    """Wait until what pages asked for last is answered: a statement under way could keep tables from being emptied."""
    busy = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    give_up_at = time.monotonic() + 60
    with connection.cursor() as cursor:
        while time.monotonic() < give_up_at:
            cursor.execute(f"{busy} and backend_type = 'client backend' and state <> 'idle'")
            if cursor.fetchone() == (0,):
                return
            time.sleep(0.02)


def _win_deadlocks() -> None:
    """Let a page that is left but not yet answered lose against the emptying of the tables that follows.

    Of two that wait for each other PostgreSQL ends the one that looks first, which takes this long.
    """
    if OWN_SERVERS:
        with connection.cursor() as cursor:
            cursor.execute("set deadlock_timeout = '1min'")
