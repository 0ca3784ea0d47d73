"""Run set-up steps side by side with visible progress; standard library only."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchweb.ops.running.home import TOOLS, write_atomically
from benchweb.ops.running.processes import SetupError, spawn
from benchweb.ops.setup.countdown import Countdown

PROGRESS_SECONDS = 10.0
POLL_SECONDS = 0.05
ESTIMATE_SECONDS = 0.5
TAIL_LINES = 25
LATE = "longer than expected"
# A build that was killed leaves its mark, but writes no more estimates into it.
_SILENCE_SECONDS = 30.0
# A tool that is killed leaves its own children; this small parent of it takes the whole group along.
GUARD = (
    "import os, signal, subprocess, sys\n"
    "signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))\n"
    "sys.exit(subprocess.call(sys.argv[1:]))"
)
Command = Sequence[str | Path]


@dataclass
class Build:
    """One step: its commands run one after the other, and its digest is kept when all succeeded."""

    name: str
    what: str
    commands: Sequence[Callable[[], Command]]
    folder: Path
    stamp: Path
    digest: str
    outputs: Sequence[Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    # What is done without it, where it can't be made; then it is tried again when its sources change.
    instead: str = ""

    def is_done(self) -> bool:
        """Tell whether the outputs are there and made from these sources."""
        try:
            is_same = self.stamp.read_text(encoding="utf-8") == self.digest
            return is_same and (bool(self.instead) or all(output.exists() for output in self.outputs))
        except OSError:
            return False

    @property
    def unfinished(self) -> Path:
        """Return the mark that is there from this step's start to its success, with the expected end in it."""
        return self.stamp.with_suffix(".unfinished")


class _Running:
    """A step under way."""

    def __init__(self, build: Build, logs: Path) -> None:
        self.build = build
        self.log = logs / f"{build.name}.log"
        self.started_at = time.monotonic()
        self._waiting = list(build.commands)
        self._file = self.log.open("wb")
        self._process: subprocess.Popen[bytes] | None = None
        self._countdown = Countdown(len(os.sched_getaffinity(0)))
        self._read_bytes = 0
        build.stamp.unlink(missing_ok=True)
        build.unfinished.touch()
        print(f"{build.name}: {build.what}…", flush=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started_at

    def advance(self) -> bool:
        """Start the next command when the last one succeeded; true when all did."""
        if self._process is not None:
            if self._process.poll() is None:
                return False
            if self._process.returncode != 0:
                raise SetupError(f"setting up {self.build.name} failed:\n{self.tail(TAIL_LINES)}\n({self.log})")
            self._process = None
        if not self._waiting:
            self._file.close()
            write_atomically(self.build.stamp, self.build.digest)
            self.build.unfinished.unlink(missing_ok=True)
            print(f"{self.build.name}: done in {self.seconds:.0f} s", flush=True)
            return True
        command = self._waiting.pop(0)()
        self._process = spawn(
            [sys.executable, "-c", GUARD, *command],
            output=self._file,
            environment={**os.environ, **self.build.environment},
            folder=self.build.folder,
            death_signal=signal.SIGTERM,
        )
        return False

    def tail(self, lines: int) -> str:
        """Return the last lines of the tool's output."""
        return "\n".join(_lines(self.log)[-lines:])

    def estimate(self) -> float | None:
        """Return how long it goes on, as Countdown does, and tell it to whoever looks at the mark."""
        with self.log.open("rb") as log:
            log.seek(self._read_bytes)
            # What follows the last end of a line is read again when it is whole.
            whole, end, _ = log.read().replace(b"\r", b"\n").rpartition(b"\n")
        self._read_bytes += len(whole + end)
        for line in whole.decode(errors="replace").split("\n"):
            self._countdown.note(line, self.seconds)
        left = self._countdown.seconds_left(self.seconds)
        if left is not None:
            # A full disk is told by the tool itself.
            with contextlib.suppress(SetupError):
                write_atomically(self.build.unfinished, str(time.time() + left))
        return left

    def progress(self) -> str:
        """Return how long it takes and goes on, or else the last line of its output."""
        left = self.estimate()
        rest = self.tail(1).strip()[:90] if left is None else f"about {left:.0f} s left" if left else LATE
        return f"{self.seconds:.0f} s  {rest}"

    def abandon(self) -> None:
        """End the tool and all that it started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def build_all(builds: Sequence[Build], logs: Path) -> None:
    """Run the steps, side by side where one doesn't need the other."""
    waiting = list(builds)
    running: list[_Running] = []
    faults: list[str] = []
    report_at = time.monotonic() + PROGRESS_SECONDS
    estimate_at = time.monotonic()
    try:
        while waiting or running:
            unfinished = {build.name for build in waiting} | {step.build.name for step in running}
            for build in [build for build in waiting if not unfinished & set(build.needs)]:
                waiting.remove(build)
                running.append(_Running(build, logs))
            running = [step for step in running if not _advance(step, faults)]
            if time.monotonic() >= estimate_at:
                estimate_at = time.monotonic() + ESTIMATE_SECONDS
                for step in running:
                    step.estimate()
            if time.monotonic() >= report_at:
                report_at += PROGRESS_SECONDS
                _report(running)
            time.sleep(POLL_SECONDS)
    finally:
        for step in running:
            step.abandon()
    if faults:
        raise SetupError("\n".join(faults))


def _advance(step: _Running, faults: list[str]) -> bool:
    """Tell whether the step is over; what it failed with is told when the others are over too."""
    try:
        return step.advance()
    except SetupError as error:
        if step.build.instead:
            write_atomically(step.build.stamp, step.build.digest)
            print(f"{error}\n{step.build.name}: {step.build.instead}", flush=True)
        else:
            faults.append(str(error))
        return True


def _report(running: Sequence[_Running]) -> None:
    for step in running:
        print(f"{step.build.name}: {step.progress()}", flush=True)


def engine_seconds_left() -> float | None:
    """Return how long the engine's build goes on, 0 or less when it takes longer than expected.

    None when there is none under way, or nobody knows.
    """
    mark = TOOLS / "stamps" / "engine.unfinished"
    try:
        written_at, ends_at = mark.stat().st_mtime, float(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return ends_at - time.time() if time.time() - written_at < _SILENCE_SECONDS else None


def _lines(log: Path) -> list[str]:
    text = log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n")
    return [line for line in text.splitlines() if line.strip()]
