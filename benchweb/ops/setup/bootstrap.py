"""Set up a checkout: Python's packages, the frontend's bundle, the engine; standard library only.

Each step is skipped when its sources are as they were when it last succeeded, so a warm start calls no tool.
"""

import fcntl
import os
import signal
import sys
from collections.abc import Sequence

from benchweb.ops.running import up
from benchweb.ops.running.home import TOOLS, Home
from benchweb.ops.running.processes import SetupError
from benchweb.ops.setup import apt, requirements, steps
from benchweb.ops.setup.build import Build, build_all

_NICENESS = 10
# Steps that a machine without something can't do, and the tests do without.
_NEEDING = {requirements.RUST: ("engine", "fixture"), requirements.LDAP_LIBRARY: ("ldap",)}


def run(command: str, words: list[str], names: Sequence[str], *, later: Sequence[str] = ()) -> None:
    """Set up what `command` needs, but leave what may come `later` to it; a fault of the machine's is one sentence."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    keep_bytecode()
    try:
        if command == "up":
            _check_up(words)
        possible = _possible(command, _with_ldap(names))
        set_up([name for name in possible if name not in later])
        leave([name for name in possible if name in later])
    except SetupError as error:
        sys.exit(f"{command}: {error}")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _with_ldap(names: Sequence[str]) -> Sequence[str]:
    return [*names, "ldap"] if os.environ.get("BENCHWEB_LDAP_URL") and "ldap" not in names else names


def _possible(command: str, names: Sequence[str]) -> Sequence[str]:
    """Install what the machine lacks; return the steps that can be done then.

    Tests go on without an engine and tell at the end what they could not run; `up` is refused by its step.
    """
    # What the dashboard does without is no reason to ask for a compiler.
    if command != "test" and not _stale([name for name in names if name not in steps.OPTIONAL]):
        return names
    absent = {requirement.name for requirement in apt.install_missing(command)}
    if command != "test" or "CI" in os.environ:
        return names
    impossible = {name for lacking, steps in _NEEDING.items() if lacking in absent for name in steps}
    return [name for name in names if name not in impossible]


def keep_bytecode() -> None:
    """Keep bytecode in .tools where the environment wants none beside the sources.

    Without any, each Python process compiles all packages anew: three quarters of its start.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(TOOLS / "bytecode"))


def _check_up(words: list[str]) -> None:
    """Refuse what can't succeed before a minute goes into building."""
    options = up.arguments(words)
    home = Home.from_environment()
    home.create()
    os.close(home.lock())
    up.check_free(options.port)


def set_up(names: Sequence[str]) -> None:
    """Build what is not up to date; SetupError for what the machine lacks."""
    if not _stale(names):
        return
    lock = _lock()
    try:
        # Looked at again: whoever held the lock may have done the work.
        build_all(_stale(names), TOOLS / "logs")
    finally:
        os.close(lock)


def leave(names: Sequence[str]) -> None:
    """Name for `up` what is not up to date; SetupError for what the machine lacks to build it."""
    stale = [build.name for build in _stale(names)]
    if any(name not in steps.OPTIONAL for name in stale):
        steps.cargo()
    os.environ[up.TO_BUILD] = " ".join(stale)


def _stale(names: Sequence[str]) -> list[Build]:
    builds = [steps.STEPS[name](TOOLS) for name in names]
    return [build for build in builds if not build.is_done()]


def _lock() -> int:
    try:
        for folder in (TOOLS / "logs", TOOLS / "stamps"):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{TOOLS} can't be written ({error.strerror}): set up from a checkout of yours.") from error
    descriptor = os.open(TOOLS, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another set-up of this checkout is under way; waiting for it…", flush=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def build(names: Sequence[str]) -> int:
    """Build steps beside a dashboard that is there already: its pages go first."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.nice(_NICENESS)
    try:
        set_up(names)
    except SetupError as error:
        print(error, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(build(sys.argv[1:]))
