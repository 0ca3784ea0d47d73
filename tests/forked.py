"""Starts Celery workers and beats of the tests as forks of a process that has imported all that they import.

To import it takes seconds of a CPU, and each test that needs a worker has a new one. `python -m tests.forked MODULE`
is that process: it imports the application, forks when it is asked on its standard input, and tells how its children
ended.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

_POLL_SECONDS = 0.02
_CELERY = (
    "celery.__main__",
    "celery.apps.worker",
    "celery.apps.beat",
    "celery.bin.celery",
    "celery.concurrency.thread",
)
_DEATH_SIGNAL = 1


class ForkServer:
    """A process that is ready to be forked, in one environment."""

    def __init__(self, environment: dict[str, str], module: str) -> None:
        command = [sys.executable, "-m", "tests.forked", module]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def forked(self, arguments: Sequence[str], log: Path) -> "Forked":
        """Start Celery with these arguments in a process group of its own; what it says goes into the log."""
        return Forked(self, arguments, int(self.answer({"arguments": list(arguments), "log": str(log)})))

    def answer(self, request: dict[str, Any]) -> Any:
        """Ask the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def is_running(self) -> bool:
        """Tell whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it; its children end with it."""
        self._process.kill()
        self._process.communicate()


class Forked(subprocess.Popen[bytes]):
    """A process that somebody else has started, who tells how it ended."""

    def __init__(self, server: ForkServer, arguments: Sequence[str], pid: int) -> None:
        self._server = server
        self.args = ["celery", *arguments]
        self.pid = pid
        self.returncode: int | None = None
        self.stdin = self.stdout = self.stderr = None

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""
        if self.returncode is None:
            self.returncode = self._server.answer({"poll": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        give_up_at = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (status := self.poll()) is None:
            if timeout is not None and time.monotonic() > give_up_at:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(_POLL_SECONDS)
        return status


def main(module: str) -> None:
    """Import, then fork and tell until nobody asks any more."""
    for each in _CELERY:
        importlib.import_module(each)
    importlib.import_module(module).app.loader.import_default_modules()
    # A collection of garbage would write to, and so copy, all that is shared.
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        answer = _status(request["poll"]) if "poll" in request else _child(request["arguments"], request["log"])
        print(json.dumps(answer), flush=True)


def _status(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _child(arguments: Sequence[str], log: str) -> int:
    return os.fork() or _become_celery(arguments, log)


def _become_celery(arguments: Sequence[str], log: str) -> NoReturn:
    os.setsid()
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    nothing, output = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_APPEND)
    for here, there in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(here, there)
    sys.argv = ["celery", *arguments]
    from celery.__main__ import main as celery

    celery()
    raise SystemExit


if __name__ == "__main__":
    main(sys.argv[1])
