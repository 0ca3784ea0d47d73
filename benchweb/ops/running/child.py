"""One program that the supervisor keeps running; standard library only."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from benchweb.ops.running.liveness import Liveness, Watch
from benchweb.ops.running.lossy_file import LossyFile
from benchweb.ops.running.processes import SetupError, spawn

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 10.0
# A child that lived this long is healthy: its next end is no longer part of a series.
HEALTHY_SECONDS = 30.0


@dataclass(frozen=True)
class Program:
    """A program to run: its command is asked for at every start, so that it may choose ports anew."""

    name: str
    command: Callable[[], list[str | Path]]
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None
    stop_signal: int = signal.SIGTERM
    patience_seconds: float = 1.0
    death_signal: int = signal.SIGKILL
    unprivileged: bool = False
    once: bool = False
    # All that it says is for the person at the console.
    is_told: bool = False
    watch: Watch | None = None


class Child:
    """A running, ended or waiting program with its log."""

    def __init__(self, program: Program, logs: Path, folder: Path) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.restart_at: float | None = None
        self.ended_well = False
        self._folder = folder
        self._log = ChildLog(logs, program.name, is_told=program.is_told)
        self._liveness = Liveness(program.watch) if program.watch else None
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
        """Start the program; return the descriptor of its output; raises SetupError when it can't be started."""
        self.restart_at = None
        try:
            self.program.before()
            return self._spawned()
        except (OSError, subprocess.SubprocessError) as error:
            raise SetupError(f"{self.name} can't be started: {error}") from error

    def postpone(self) -> str:
        """Plan the next start, each time somewhat later; say when it is."""
        delay, self._delay_seconds = self._delay_seconds, min(self._delay_seconds * 2, LONGEST_DELAY_SECONDS)
        self.restart_at = time.monotonic() + delay
        return f"starting it again in {delay:g} s"

    def _spawned(self) -> int:
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
        self._started_at = time.monotonic()
        if self._liveness:
            self._liveness.begin()
        fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
        return reading

    def log(self, data: bytes) -> list[str]:
        """Keep output; return the lines that a person should see."""
        return self._log.write(data)

    def tail(self) -> str:
        """Return the last lines of the log."""
        return self._log.tail()

    def end_if_dead(self) -> str | None:
        """Kill a server that answers nothing, and say so; it is then started again as after any other end."""
        if self._liveness is None or self.process is None or not self._liveness.is_dead():
            return None
        message = f"{self.name} gave no answer to /livez for {self._liveness.silent_seconds():.0f} s: it is killed"
        self._liveness.begin()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return message

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
        return f"{self.name} ended with {_status(status)}; {self.postpone()}"

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
# Errors, what a start waits for, and how a new installation gets its first admin.
_REPORTED = re.compile(
    rb"\b(ERROR|CRITICAL|FATAL|PANIC)\b|^Traceback |panicked at|waits for a lock|There is no admin yet"
)
# A statement that PostgreSQL refuses is its client's to report.
_SERVER_FAULT = re.compile(rb"\b(FATAL|PANIC)\b")
_ANYTHING = re.compile(rb"\S")


class ChildLog:
    """Keep a child's output in NAME.log (and NAME.log.1), and tell which lines a person should see."""

    def __init__(self, folder: Path, name: str, *, is_told: bool = False) -> None:
        self._path = folder / f"{name}.log"
        self._file = LossyFile(lambda: FileIO(self._path, "a"))
        self._pattern = _ANYTHING if is_told else _SERVER_FAULT if name == "postgres" else _REPORTED
        self._rest = b""
        # In memory: a full disk must not hide why a child ended.
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)

    def write(self, data: bytes) -> list[str]:
        """Append output; return its whole lines that a person should see."""
        if self._file.size_bytes > LOG_BYTES:
            self._rotate()
        self._file.write(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        # A program that never ends its line must not fill the memory.
        self._rest = self._rest[-64_000:]
        self._tail.extend(lines)
        return [line.decode(errors="replace") for line in lines if self._pattern.search(line)]

    def tail(self) -> str:
        """Return the last lines, for the report of a failure."""
        lines = [*self._tail, self._rest][-TAIL_LINES:]
        return "\n".join(f"    {line.decode(errors='replace')}" for line in lines if line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rotate(self) -> None:
        self._file.close()
        with contextlib.suppress(OSError):
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
