"""`manage.py test`: every check and test of Rust, Python and the browser; standard library only."""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchweb.ops import steps
from benchweb.ops.bootstrap import TOOLS
from benchweb.ops.home import PROJECT
from benchweb.ops.steps import ENGINE, FRONTEND, VENV

CHROMIUM = Path("/usr/bin/chromium")
# What tests run, and the Debian package that brings it.
NEEDED = {
    "/usr/bin/qemu-aarch64-static": "qemu-user-static",
    "/usr/bin/aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "/usr/bin/systemd-analyze": "systemd",
    str(CHROMIUM): "chromium",
}
TAIL_LINES = 200
# How tests of the engine say that the machine stood still whenever they were tried.
NOT_JUDGED = "NOT JUDGED"

# Tests that keep a CPU busy and watch no clock.
FOLDERS = tuple(
    f"tests/{name}"
    for name in (
        *("api", "web", "runs", "schedules", "hosts", "charts", "catalog", "plans", "results", "statistics"),
        *("ops", "sharing", "regressions"),
    )
)
# Each process has a database and a broker of its own.
# In the order of their names: the files with few and long tests, of the browser, would else come last and alone.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
SIDE_BY_SIDE = ("-n", "2", *BY_FILE)
# Tests of processes that wait for each other, browsers and start-ups half of their time: a third fills two CPUs.
THREE_BESIDE = ("-n", "3", *BY_FILE)
WAITING = ("tests/workers", "tests/faults")
# What would help a second build only.
BUILT_ONCE = {"CARGO_INCREMENTAL": "0"}


@dataclass(frozen=True)
class Part:
    """One command and what it checks; a `loud` one prints for itself."""

    name: str
    command: Sequence[str | Path]
    folder: Path = PROJECT
    environment: Mapping[str, str] = field(default_factory=dict)
    loud: bool = False


def parts() -> list[Part]:
    """Give everything that is checked, cheap parts first."""
    python = str(VENV / "bin" / "python")
    cargo = str(steps.cargo())
    npm, npm_environment = steps.npm_command(TOOLS)
    tool = str(VENV / "bin") + "/"
    return [
        Part("Python style", [f"{tool}ruff", "check", "."]),
        Part("Python format", [f"{tool}ruff", "format", "--check", "."]),
        Part("Python types", [f"{tool}mypy"]),
        Part("room boundaries", [f"{tool}lint-imports"]),
        Part("templates", [f"{tool}djlint", "benchweb", "--lint", "--quiet"]),
        Part("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        Part("script types and style", [*npm, "run", "check"], FRONTEND, npm_environment),
        Part("script tests", [*npm, "test"], FRONTEND, npm_environment),
        Part("Rust format", [cargo, "fmt", "--all", "--check"], ENGINE),
        Part(
            "Rust style",
            [cargo, "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            ENGINE,
            BUILT_ONCE,
        ),
        Part(
            "Rust unit tests", [cargo, "test", "--locked", "--workspace", "--no-fail-fast", "--lib"], ENGINE, BUILT_ONCE
        ),
        # What measures, or gives parsers thousands of inputs, is compiled as it is used.
        Part(
            "Rust tests",
            [cargo, "test", "--release", "--locked", "--workspace", "--no-fail-fast", "--test", "*"],
            ENGINE,
        ),
        Part("Python tests of the rooms", [python, "-m", "pytest", *SIDE_BY_SIDE, *FOLDERS], loud=True),
        Part("Python tests of workers and faults", [python, "-m", "pytest", *THREE_BESIDE, *WAITING], loud=True),
        Part(
            "Python and browser tests, the others",
            [python, "-m", "pytest", *THREE_BESIDE, *(f"--ignore={each}" for each in (*FOLDERS, *WAITING))],
            loud=True,
        ),
    ]


def run(words: list[str]) -> int:
    """Run everything, or with arguments pytest alone; the status is 0 only if all of it passed."""
    if problem := _missing():
        print(f"test: {problem}", file=sys.stderr)
        return 1
    if words:
        return subprocess.run([VENV / "bin" / "python", "-m", "pytest", *words], cwd=PROJECT, check=False).returncode
    results = [(part, *_passes(part)) for part in parts()]
    failed = [part.name for part, passed, _, _ in results if not passed]
    print("\nSummary")
    for part, passed, seconds, not_judged in results:
        print(f"  {'passed' if passed else 'FAILED':7}{part.name} ({seconds:.0f} s)")
        print(*[f"         {line}\n" for line in not_judged], sep="", end="")
    unknown = sum(len(not_judged) for *_, not_judged in results)
    print(f"{len(failed)} of {len(results)} parts failed: {', '.join(failed)}" if failed else "Every part passed.")
    if unknown:
        print(f"{unknown} tests were neither passed nor failed: run them again on a machine that doesn't stand still.")
    return 1 if failed else 0


def _missing() -> str:
    missing = [package for program, package in NEEDED.items() if not os.access(program, os.X_OK)]
    if not missing:
        return ""
    return f"tests need programs of Debian's: sudo apt install {' '.join(missing)}, then run the same command again."


def _passes(part: Part) -> tuple[bool, float, list[str]]:
    """Run one part; print its output when it fails. Give also what it could not judge on this machine."""
    print(f"{part.name}…", flush=True)
    started_at = time.monotonic()
    environment = {**os.environ, "BENCHWEB_SECRET_KEY": secrets.token_hex(32), "NO_COLOR": "1", **part.environment}
    with tempfile.TemporaryFile() as output:
        status = subprocess.run(
            part.command,
            cwd=part.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=None if part.loud else output,
            stderr=None if part.loud else subprocess.STDOUT,
            check=False,
        ).returncode
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    seconds = time.monotonic() - started_at
    if status != 0:
        # Of a thousand tests of Rust's each has its line.
        told = [line for line in lines if not line.endswith(" ... ok")]
        print("\n".join([*told[-TAIL_LINES:], f"{part.name}: FAILED with status {status}"]), flush=True)
    return status == 0, seconds, [line[line.index(NOT_JUDGED) :] for line in lines if NOT_JUDGED in line]
