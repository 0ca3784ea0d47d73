"""Start child processes that can't outlive their parent; standard library only."""

import ctypes
import errno
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000
POLL_SECONDS = 0.02

_libc = ctypes.CDLL(None, use_errno=True)
Output = int | IO[bytes]


class SetupError(Exception):
    """Something the operator has to mend; the message says what, where and how."""


def spawn(
    command: Sequence[str | Path],
    *,
    output: Output,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    death_signal: int = signal.SIGKILL,
    unprivileged: bool = False,
    standard_input: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    """Start `command` in a session of its own; the kernel sends it `death_signal` when this thread ends.

    Call it from a thread that lives as long as the child should. `unprivileged` hides root's identity
    from a program that refuses to run as root (PostgreSQL).
    """
    return subprocess.Popen(
        [str(word) for word in command],
        stdin=standard_input,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=None if environment is None else dict(environment),
        cwd=folder,
        start_new_session=True,
        # Callers fork from a process without other threads, as the death signal wants it too.
        preexec_fn=_child_setup(death_signal, unprivileged and os.geteuid() == 0),  # noqa: PLW1509
    )


def stop(process: "subprocess.Popen[Any]", *, signal_number: int, patience_seconds: float) -> bool:
    """Ask a child to end, then kill it; true when it ended by itself."""
    if process.poll() is None:
        process.send_signal(signal_number)
    if wait_until(lambda: process.poll() is not None, timeout_seconds=patience_seconds):
        return True
    process.kill()
    process.wait()
    return False


def wait_until(condition: Callable[[], bool], *, timeout_seconds: float) -> bool:
    """Poll `condition` until it holds; false when the time is over."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def is_alive(pid: int) -> bool:
    """Tell whether a process runs (a zombie doesn't)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _child_setup(death_signal: int, drop_root: bool) -> Callable[[], None]:
    parent = os.getpid()
    # Asked here, before the fork: the answer is remembered and look-ups of users aren't safe after it.
    drop = _how_to_drop_root() if drop_root else None

    def set_up() -> None:
        if drop:
            drop()
        # After the change of identity, which clears the death signal.
        _libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return set_up


@lru_cache
def _how_to_drop_root() -> Callable[[], None]:
    account = unprivileged_account()
    if _works_in_a_fork(lambda: _enter_user_namespace(account)):
        return lambda: _enter_user_namespace(account)
    return lambda: _become(account)


@lru_cache
def root_needs_another_owner() -> bool:
    """Tell whether files of an `unprivileged` child must belong to `unprivileged_account()`."""
    account = unprivileged_account() if os.geteuid() == 0 else None
    return account is not None and not _works_in_a_fork(lambda: _enter_user_namespace(account))


def unprivileged_account() -> pwd.struct_passwd:
    """Find an account that isn't root's: `postgres` where there is one, else `nobody`."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise SetupError(
        "PostgreSQL doesn't run as root and this system has neither a 'postgres' nor a 'nobody' account: "
        "run as a normal user, or set BENCHWEB_DATABASE_URL to a server of your own."
    )


def _enter_user_namespace(account: pwd.struct_passwd) -> None:
    """Stay root outside, be `account` inside: files keep their owner and no folder mode changes."""
    if _libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{account.pw_gid} 0 1", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{account.pw_uid} 0 1", encoding="ascii")


def _become(account: pwd.struct_passwd) -> None:
    os.setgroups([])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)


def _works_in_a_fork(action: Callable[[], None]) -> bool:
    pid = os.fork()
    if pid == 0:
        try:
            action()
        except OSError as error:
            os._exit(error.errno or errno.EPERM)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
