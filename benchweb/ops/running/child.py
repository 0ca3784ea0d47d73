"""One program that the supervisor keeps running; standard library only."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchweb.ops.running.processes import spawn

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 10.0
# A child that lived this long is healthy: its next end is no longer part of a series.
HEALTHY_SECONDS = 30.0


@dataclass(frozen=True)
class Program:
    """What to run: the command is asked for at every start, so that it may choose ports anew."""

    name: str
    command: Callable[[], list[str | Path]]
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None
    stop_signal: int = signal.SIGTERM
    patience_seconds: float = 1.0
    death_signal: int = signal.SIGKILL
    unprivileged: bool = False
    once: bool = False


class Child:
    """A running, ended or waiting program with its log."""

    def __init__(self, program: Program, logs: Path, folder: Path) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.restart_at: float | None = None
        self.ended_well = False
        self._folder = folder
        self._log = ChildLog(logs, program.name)
        self._delay_seconds = FIRST_DELAY_SECONDS
        self._started_at = 0.0

    @property
    def name(self) -> str:
        """Return the program's name."""
        return self.program.name

    @property
    def is_running(self) -> bool:
        """Tell whether a process is there and not yet known to have ended."""
        return self.process is not None

    def start(self) -> int:
        """Start the program; return the descriptor of its output."""
        self.program.before()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        try:
            self.process = spawn(
                self.program.command(),
                output=writing,
                environment={**os.environ, **self.program.environment},
                folder=self._folder,
                death_signal=self.program.death_signal,
                unprivileged=self.program.unprivileged,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self.restart_at = None
        self._started_at = time.monotonic()
        fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
        return reading

    def log(self, data: bytes) -> list[str]:
        """Keep output; return the lines that a person should see."""
        return self._log.write(data)

    def tail(self) -> str:
        """Return the last lines of the log."""
        return self._log.tail()

    def reap(self) -> str | None:
        """Notice the end of the process; say what happens next when a person should know."""
        if self.process is None or self.process.poll() is None:
            return None
        status = self.process.returncode
        self.process = None
        self.ended_well = status == 0
        if self.program.once:
            return None
        if time.monotonic() - self._started_at > HEALTHY_SECONDS:
            self._delay_seconds = FIRST_DELAY_SECONDS
        delay, self._delay_seconds = self._delay_seconds, min(self._delay_seconds * 2, LONGEST_DELAY_SECONDS)
        self.restart_at = time.monotonic() + delay
        return f"{self.name} ended with {_status(status)}; starting it again in {delay:g} s"

    def ask_to_stop(self) -> None:
        """Send the stop signal."""
        self.restart_at = None
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """End the process and all it started, at once."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def _status(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


LOG_BYTES = 4 * 1024 * 1024
TAIL_LINES = 12
# Errors, and how a new installation gets its first admin.
_REPORTED = re.compile(rb"\b(ERROR|CRITICAL|FATAL|PANIC)\b|^Traceback |panicked at|There is no admin yet")
# A statement that PostgreSQL refuses is its client's to report.
_SERVER_FAULT = re.compile(rb"\b(FATAL|PANIC)\b")


class ChildLog:
    """Keep a child's output in NAME.log (and NAME.log.1), and tell which lines a person should see."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.log"
        self._file = self._path.open("ab")
        self._pattern = _SERVER_FAULT if name == "postgres" else _REPORTED
        self._rest = b""

    def write(self, data: bytes) -> list[str]:
        """Append output; return its whole lines that a person should see."""
        if self._file.tell() > LOG_BYTES:
            self._rotate()
        self._file.write(data)
        self._file.flush()
        *lines, self._rest = (self._rest + data).split(b"\n")
        # A program that never ends its line must not fill the memory.
        self._rest = self._rest[-64_000:]
        return [line.decode(errors="replace") for line in lines if self._pattern.search(line)]

    def tail(self) -> str:
        """Return the last lines, for the report of a failure."""
        with self._path.open("rb") as file:
            file.seek(max(0, self._path.stat().st_size - 16_384))
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-TAIL_LINES:])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rotate(self) -> None:
        self._file.close()
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        self._file = self._path.open("ab")
