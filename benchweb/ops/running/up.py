"""`manage.py up`: the whole of benchweb in the foreground, on this machine; standard library only."""

import argparse
import errno
import hashlib
import http.client
import json
import os
import socket
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import NoReturn

from benchweb.common.loopback import is_loopback_name
from benchweb.ops.running import engines, postgres, programs, valkey
from benchweb.ops.running.child import Child
from benchweb.ops.running.home import PROJECT, Home, digest_of_files, page_address
from benchweb.ops.running.lossy_file import console, say
from benchweb.ops.running.processes import SetupError
from benchweb.ops.running.supervisor import Stopping, Supervisor

LOOPBACK = "127.0.0.1"
# The steps that the set-up left to `up`.
TO_BUILD = "BENCHWEB_TO_BUILD"
STOP_ORDER = ["web", "worker", "beat", "engine-a", "engine-b", "valkey", "postgres"]
# The web server's open streams and the worker's tasks end side by side: both in 5 s would be tight otherwise.
OVERLAP_SECONDS = {"web": 0.6}
# What each server may take, on a slow machine beside other work.
START_SECONDS = 60
# An upgrade may write something of each of many million points.
PREPARE_SECONDS = 3_600
# On a slow machine beside other work.
BUILD_SECONDS = 3_600
DEMO_SECONDS = 300
DEMO_RETRY_SECONDS = 10
READY_SECONDS = 60
HEALTH_PERIOD_SECONDS = 0.1
FAULT_PAUSE_SECONDS = 0.5


def arguments(words: list[str]) -> argparse.Namespace:
    """Parse the options of `up`."""
    parser = argparse.ArgumentParser(prog="manage.py up", description="Set up and start benchweb in the foreground.")
    parser.add_argument("--port", type=_port, default=8000, help="the port of the pages on 127.0.0.1 (8000)")
    parser.add_argument("--no-backup", action="store_true", help="no backup before an upgrade of the database")
    parser.add_argument("--no-demo", action="store_true", help="no demo engines, data and log-in")
    return parser.parse_args(words)


def check_free(port: int) -> None:
    """Refuse a port that another program listens on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"can't be used ({error.strerror})"
            raise SetupError(
                f"Port {port} {reason}: choose another with --port, for example --port {port + 1}."
            ) from error


def main(words: list[str]) -> int:
    """Start everything, look after it, and stop it in order when a signal asks for it."""
    options = arguments(words)
    home = Home.from_environment()
    home.create()
    lock = home.lock()
    check_free(options.port)
    home.create_sockets()
    has_demo = not options.no_demo and os.environ.get("BENCHWEB_DEMO") != "0"
    up = Up(home, options.port, demo=has_demo, backup=not options.no_backup)
    try:
        up.start()
        up.run()
    except Stopping:
        return 0
    finally:
        up.stop()
        os.close(lock)


class Up:
    """One start of benchweb."""

    def __init__(self, home: Home, port: int, *, demo: bool, backup: bool = True) -> None:
        self._home = home
        self._port = port
        self._demo = demo
        self._backup = backup
        self._supervisor = Supervisor(home.logs, PROJECT)
        self._own_database = not os.environ.get("BENCHWEB_DATABASE_URL")
        self._next_demo_at = 0.0
        # Read at the start: later there may be no descriptor left for it.
        self._begun_at = _process_begun_at()
        self._own_broker = not os.environ.get("BENCHWEB_REDIS_URL")

    def start(self) -> None:
        """Start the servers, prepare the database, then start what uses them."""
        self._check_demo()
        self._set_environment()
        to_build = os.environ.pop(TO_BUILD, "").split()
        engine = self._supervisor.start(programs.build("engine")) if "engine" in to_build else None
        if self._demo and not engine:
            self._start_engines()
        self._start_servers()
        prepared = self._digest_of_what_is_prepared()
        if self._home.stamp("prepared") != prepared:
            say("Preparing the database…")
            words = ["--backup"] if self._own_database and self._backup else []
            self._supervisor.run(programs.management("prepare", "prepare", *words), timeout_seconds=PREPARE_SECONDS)
            self._home.set_stamp("prepared", prepared)
        if not self._demo:
            self._disable_demo()
        for program in (programs.web(self._port), programs.worker(), programs.beat()):
            self._supervisor.start(program)
        if engine:
            self._await_engine(engine)
        if self._demo:
            self._fill_demo()
        self._wait_for_answer("/healthz", what="benchweb did not become ready")
        self._announce()
        if self._demo and self._home.stamp("sample").startswith("due"):
            self._supervisor.start(programs.management("sample", "sample", "--if-new"))
        if "static" in to_build:
            self._supervisor.start(programs.build("static"))

    def run(self) -> NoReturn:
        """Look after everything until a signal asks for the end: no fault of this process's own ends the others."""
        last_fault = ""
        while True:
            try:
                self._look_after()
            except Stopping:
                raise
            except Exception:
                if (fault := traceback.format_exc()) != last_fault:
                    say(f"up goes on after an error of its own:\n{fault}")
                last_fault = fault
                time.sleep(FAULT_PAUSE_SECONDS)

    def _look_after(self) -> None:
        """Keep everything running; an engine that had to take other ports is told to the dashboard."""
        self._supervisor.pump()
        is_due = self._demo and time.monotonic() >= self._next_demo_at
        if not is_due or self._home.stamp("demo") == self._digest_of_demo():
            return
        try:
            self._fill_demo()
        except SetupError as error:
            self._next_demo_at = time.monotonic() + DEMO_RETRY_SECONDS
            say(f"up: {error}")

    def stop(self) -> None:
        """Stop everything and leave nothing that only a running `up` needs."""
        self._supervisor.stop(STOP_ORDER, overlap_seconds=OVERLAP_SECONDS)
        self._home.clean()

    def _set_environment(self) -> None:
        database_url, redis_url = postgres.url(self._home.sockets), valkey.url(self._home.sockets)
        os.environ["BENCHWEB_HOME"] = str(self._home.folder)
        os.environ.setdefault("BENCHWEB_DATABASE_URL", database_url)
        os.environ.setdefault("BENCHWEB_REDIS_URL", redis_url)
        os.environ["BENCHWEB_DEMO"] = "1" if self._demo else "0"
        if not os.environ.get("BENCHWEB_SECRET_KEY"):
            self._home.secret("secret-key")
        self._home.write_runtime(
            {
                "pid": os.getpid(),
                "port": self._port,
                "database_url": os.environ["BENCHWEB_DATABASE_URL"],
                "redis_url": os.environ["BENCHWEB_REDIS_URL"],
            }
        )

    def _await_engine(self, build: Child) -> None:
        """Tell that the pages are there, and go on with them until the engine is built."""
        self._wait_for_answer("/livez", what="The pages did not answer")
        say(f"The pages are there after {self._seconds:.1f} s, while the engine is built: {page_address(self._port)}")
        self._supervisor.wait_for_end(build, timeout_seconds=BUILD_SECONDS)
        if self._demo:
            self._start_engines()

    def _start_engines(self) -> None:
        for name in engines.NAMES:
            self._supervisor.start(engines.program(self._home, name))

    def _start_servers(self) -> None:
        """Start the broker first: it comes up while the database does."""
        if self._own_broker:
            self._supervisor.start(programs.broker(self._home))
        if self._own_database:
            self._start_database()
        if self._own_broker:
            self._supervisor.wait_for(
                lambda: valkey.is_ready(self._home.sockets),
                what="Valkey did not start",
                timeout_seconds=START_SECONDS,
            )

    def _start_database(self) -> None:
        if not self._home.postgres.exists():
            say("Making the database…")
            postgres.create(self._home.postgres)
        postgres.prepare_sockets(self._home.sockets)
        child = self._supervisor.start(programs.database(self._home))
        self._supervisor.wait_for(
            lambda: child.process is not None and postgres.is_ready(self._home.postgres, child.process.pid),
            what="PostgreSQL did not start",
            timeout_seconds=START_SECONDS,
        )

    def _fill_demo(self) -> None:
        """Create the demo's data once, and update the engines' addresses whenever they changed."""
        for name in engines.NAMES:
            self._supervisor.wait_for(
                partial(engines.answers, self._home, name),
                what=f"The demo's engine {name} did not answer",
                timeout_seconds=START_SECONDS,
            )
        digest = self._digest_of_demo()
        if self._home.stamp("demo") == digest:
            return
        self._supervisor.run(programs.management("demo", "demo"), timeout_seconds=DEMO_SECONDS)
        self._home.set_stamp("demo", digest)

    def _disable_demo(self) -> None:
        """Disable the user of a demo that was on before; the next start with the demo fills it anew."""
        if not self._home.stamp("demo"):
            return
        # Neither the digest of a filled demo nor empty: whatever interrupts this, the next start does what it has to.
        self._home.set_stamp("demo", "being disabled")
        self._supervisor.run(programs.management("demo", "demo", "--disable"), timeout_seconds=DEMO_SECONDS)
        self._home.set_stamp("demo", "")

    def _check_demo(self) -> None:
        """Refuse a demo that others are to reach: its password is known to all."""
        names = os.environ.get("BENCHWEB_ALLOWED_HOSTS", "").split(",")
        others = [name.strip() for name in names if name.strip() and not is_loopback_name(name.strip())]
        if self._demo and others:
            raise SetupError(
                f"BENCHWEB_ALLOWED_HOSTS names {', '.join(others)}, but the demo is for this machine only: "
                "start with --no-demo, or name no others."
            )

    def _wait_for_answer(self, path: str, *, what: str) -> None:
        self._supervisor.wait_for(lambda: self._answers(path), what=what, timeout_seconds=READY_SECONDS)

    def _answers(self, path: str) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()
            self._supervisor.pump(HEALTH_PERIOD_SECONDS)

    def _digest_of_what_is_prepared(self) -> str:
        """Change whenever migrations, static files or the database itself do."""
        sources = [PROJECT / "uv.lock", PROJECT / "frontend" / "dist", *sorted(PROJECT.glob("benchweb/*/migrations"))]
        identity = [os.environ["BENCHWEB_DATABASE_URL"]]
        if self._own_database:
            status = (self._home.postgres / "PG_VERSION").stat()
            identity += [str(status.st_ino), str(status.st_mtime_ns)]
        else:
            # Nobody can tell from here whether that database was made anew.
            identity.append(str(time.time_ns()))
        return hashlib.sha256("\n".join([*identity, digest_of_files(sources)]).encode()).hexdigest()

    def _digest_of_demo(self) -> str:
        """Change whenever an engine's address, the token or the database do."""
        addresses = [repr(engines.listening(self._home, name)) for name in engines.NAMES]
        token = os.environ.get("BENCHWEB_DEMO_TOKEN", "")
        text = json.dumps([self._home.stamp("prepared"), addresses, token])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def _seconds(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME) - self._begun_at

    def _announce(self) -> None:
        lines = [f"benchweb is ready after {self._seconds:.1f} s: {page_address(self._port)}"]
        if self._demo:
            lines += ["Log in as 'demo' with the password 'demo' (this machine only)."]
            if not os.environ.get("BENCHWEB_DEMO_TOKEN"):
                lines += [f"The demo's API token is in {self._home.folder / 'demo-token'}."]
        lines += [f"Logs are in {self._home.logs}; Ctrl-C stops everything."]
        console(sys.stdout).write("".join(f"{line}\n" for line in lines).encode())


def run(words: list[str]) -> int:
    """Run `up`; an error of the operator's is one sentence, not a traceback."""
    try:
        return main(words)
    except SetupError as error:
        print(f"up: {error}", file=sys.stderr)
        return 1


def _process_begun_at() -> float:
    """Return when the process began, by the clock since boot: it was the set-up, which went on as `up` by exec."""
    begin_ticks = int(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    return begin_ticks / os.sysconf("SC_CLK_TCK")


def _port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text} isn't a port: give a number from 1 to 65535")
    return int(text)
