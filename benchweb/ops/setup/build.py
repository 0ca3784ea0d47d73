"""Run set-up steps side by side with visible progress; standard library only."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchweb.ops.running.home import TOOLS, write_atomically
from benchweb.ops.running.processes import SetupError, spawn

PROGRESS_SECONDS = 10.0
POLL_SECONDS = 0.05
TAIL_LINES = 25
# Cargo's count of what it compiles: "Building [=====>   ] 45/120: tokio".
_PARTS = re.compile(r"(\d+)/(\d+)\b")
# A build that was killed leaves its mark, but writes no more.
_SILENCE_SECONDS = 120.0
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
        """Return the mark that is there from this step's start to its success."""
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

    def progress(self) -> str:
        """Return how long it takes and, by cargo's count, goes on; or else the last line of its output."""
        left = _seconds_left(self.log, self.seconds)
        return f"{self.seconds:.0f} s  " + (f"about {left:.0f} s left" if left else self.tail(1).strip()[:90])

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
    try:
        while waiting or running:
            unfinished = {build.name for build in waiting} | {step.build.name for step in running}
            for build in [build for build in waiting if not unfinished & set(build.needs)]:
                waiting.remove(build)
                running.append(_Running(build, logs))
            running = [step for step in running if not _advance(step, faults)]
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
    """Return how long the engine's build goes on; None when there is none under way, or nobody knows."""
    log, mark = TOOLS / "logs" / "engine.log", TOOLS / "stamps" / "engine.unfinished"
    try:
        started_at, written_at = mark.stat().st_mtime, log.stat().st_mtime
    except OSError:
        return None
    now = time.time()
    return _seconds_left(log, now - started_at) if now - written_at < _SILENCE_SECONDS else None


def _seconds_left(log: Path, seconds: float) -> float | None:
    counts = [_PARTS.search(line) for line in _lines(log)[-3:]]
    done, every = next(((int(count[1]), int(count[2])) for count in reversed(counts) if count), (0, 0))
    return seconds * (every - done) / done if done else None


def _lines(log: Path) -> list[str]:
    text = log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n")
    return [line for line in text.splitlines() if line.strip()]
