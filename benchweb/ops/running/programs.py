"""The programs of `up`: what each needs to start and to stop; standard library only."""

import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchweb.ops.running import postgres, valkey
from benchweb.ops.running.child import Program
from benchweb.ops.running.home import PROJECT, Home
from benchweb.ops.running.liveness import Watch

# glibc's default number of arenas would keep what each of the many threads once used.
# Django's checks load every page and form: `prepare` ran them already, the worker needs none of those.
PYTHON_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "PYTHONUNBUFFERED": "1", "CELERY_SKIP_CHECKS": "1"}
# An open page's event stream would hold the web server for ever; the page reconnects by itself.
WEB_GRACE_SECONDS = 1


def database(home: Home) -> Program:
    """PostgreSQL on a private socket; SIGINT is its fast shutdown, SIGQUIT its immediate one."""
    return Program(
        name="postgres",
        command=lambda: postgres.command(home.postgres, home.sockets),
        before=lambda: postgres.clear_stale(home.postgres, home.sockets),
        stop_signal=signal.SIGINT,
        death_signal=signal.SIGQUIT,
        unprivileged=True,
        # Its last checkpoint, which a busy disk takes seconds for; killed before, it recovers at the next start.
        patience_seconds=10.0,
    )


def broker(home: Home) -> Program:
    """Valkey on a private socket."""

    def remove_stale_socket() -> None:
        (home.sockets / valkey.SOCKET_NAME).unlink(missing_ok=True)

    return Program(name="valkey", command=lambda: valkey.command(home.sockets), before=remove_stale_socket)


def web(port: int) -> Program:
    """Serve the pages and the API on loopback."""
    options = f"--host 127.0.0.1 --port {port} --timeout-graceful-shutdown {WEB_GRACE_SECONDS}"
    options += " --loop uvloop --http benchweb.serving.connections:BoundedProtocol --lifespan off --ws none"
    # Whose X-Forwarded-For counts is a setting of benchweb's own: uvicorn would believe anybody on this machine.
    options += " --no-proxy-headers --no-access-log --no-server-header --log-level warning"
    words = ["-m", "uvicorn", "benchweb.asgi:application", *options.split()]
    return replace(_python("web", words, patience_seconds=1.4), watch=Watch(port))


def worker() -> Program:
    """Run the measurements' tasks; what it can't end in time, the next worker takes over by lease."""
    options = "--loglevel WARNING --without-gossip --without-mingle --without-heartbeat"
    return _python("worker", ["-m", "celery", "-A", "workers.app", "worker", *options.split()], patience_seconds=1.2)


def beat() -> Program:
    """Send the tick."""
    words = ["-m", "celery", "-A", "workers.beat", "beat", "--loglevel", "WARNING", "--pidfile", ""]
    return _python("beat", words, patience_seconds=0.4, environment={"DJANGO_SETTINGS_MODULE": ""})


def management(name: str, *words: str) -> Program:
    """Run one management command to its end."""
    return _python(name, [str(PROJECT / "manage.py"), *words], once=True)


def build(name: str) -> Program:
    """Run one step of the set-up to its end; it is asked to take its tool along."""
    program = _python("build", ["-m", "benchweb.ops.setup.bootstrap", name], once=True)
    return replace(program, is_told=True)


def _python(
    name: str,
    words: list[str],
    *,
    patience_seconds: float = 1.0,
    once: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Program:
    return Program(
        name=name,
        command=lambda: [Path(sys.executable), *words],
        environment={**PYTHON_ENVIRONMENT, "PYTHONPATH": str(PROJECT), **(environment or {})},
        patience_seconds=patience_seconds,
        once=once,
    )
