"""The embedded database for one command, while `up` isn't running; standard library only."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from benchweb.ops.running import postgres
from benchweb.ops.running.home import AlreadyRunningError, Home
from benchweb.ops.running.processes import SetupError, spawn, stop, wait_until

START_SECONDS = 60
STOP_SECONDS = 30


@contextmanager
def embedded_database(*, make: bool, alone: bool) -> Iterator[None]:
    """Have the state folder's database running meanwhile, as BENCHWEB_DATABASE_URL says; its own is left alone.

    `make` makes one where there is none. With `alone` a running `up` is in the way (AlreadyRunningError), else its
    database is used.
    """
    home = Home.from_environment()
    if os.environ.get("BENCHWEB_DATABASE_URL") or not (make or home.postgres.exists()):
        yield
        return
    home.create()
    try:
        lock = home.lock()
    except AlreadyRunningError:
        if alone:
            raise
        yield
        return
    try:
        with _served(home):
            yield
    finally:
        os.close(lock)


@contextmanager
def _served(home: Home) -> Iterator[None]:
    home.create_sockets()
    postgres.create(home.postgres)
    postgres.prepare_sockets(home.sockets)
    postgres.clear_stale(home.postgres, home.sockets)
    log = home.logs / "postgres.log"
    with log.open("ab") as output:
        server = spawn(
            postgres.command(home.postgres, home.sockets),
            output=output,
            death_signal=signal.SIGQUIT,
            unprivileged=True,
        )
    try:
        wait_until(
            lambda: server.poll() is not None or postgres.is_ready(home.postgres, server.pid),
            timeout_seconds=START_SECONDS,
        )
        if not postgres.is_ready(home.postgres, server.pid):
            raise SetupError(f"The database doesn't start: {log} says why.")
        os.environ["BENCHWEB_DATABASE_URL"] = postgres.url(home.sockets)
        yield
    finally:
        stop(server, signal_number=signal.SIGINT, patience_seconds=STOP_SECONDS)
        with suppress(KeyError):
            del os.environ["BENCHWEB_DATABASE_URL"]
        home.clean()


def forget_prepared(home: Home) -> None:
    """Have the next start of `up` look at the database anew: it is another one."""
    for name in ("prepared", "demo"):
        if home.stamp(name):
            home.set_stamp(name, "")
