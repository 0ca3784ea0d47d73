"""The state folder (BENCHWEB_HOME): its files, its lock and its private sockets; standard library only."""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchweb.ops.running.processes import SetupError, root_needs_another_owner, unprivileged_account

PROJECT = Path(__file__).resolve().parents[3]
TOOLS = PROJECT / ".tools"
# sockaddr_un holds 108 bytes; the longest name in the folder is .s.PGSQL.5432.lock.
LONGEST_SOCKET_FOLDER_BYTES = 107 - len("/.s.PGSQL.5432.lock")


def page_address(port: int) -> str:
    """Return where a browser on this machine opens the pages."""
    return f"http://127.0.0.1:{port}{os.environ.get('BENCHWEB_BASE_PATH', '').rstrip('/')}/"


class AlreadyRunningError(SetupError):
    """Another `up` holds the state folder."""


@dataclass(frozen=True)
class Home:
    """Paths of one state folder."""

    folder: Path

    @classmethod
    def from_environment(cls) -> "Home":
        """Use BENCHWEB_HOME, else `.benchweb` in the checkout."""
        return cls(Path(os.environ.get("BENCHWEB_HOME") or PROJECT / ".benchweb").resolve())

    @property
    def logs(self) -> Path:
        """Return the folder of the children's logs."""
        return self.folder / "logs"

    @property
    def postgres(self) -> Path:
        """Return the embedded database's data folder."""
        return self.folder / "postgres"

    @property
    def runtime_file(self) -> Path:
        """Return the file that tells other commands where the database and the broker are."""
        return self.folder / "runtime.json"

    @property
    def sockets(self) -> Path:
        """Return the folder of the sockets: in the state folder, or a private one where that path is too long."""
        inside = self.folder / "sockets"
        if len(os.fsencode(inside)) <= LONGEST_SOCKET_FOLDER_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"benchweb-{os.getuid()}-{digest}"

    def create(self) -> None:
        """Make the folders that every start needs."""
        try:
            for folder in (self.folder, self.logs, self.folder / "stamps"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if root_needs_another_owner():
                # The database's account has to pass through, but can't look around.
                self.folder.chmod(0o711)
        except OSError as error:
            raise SetupError(
                f"The state folder {self.folder} can't be written ({error.strerror}): "
                "set BENCHWEB_HOME to a folder of yours."
            ) from error

    def create_sockets(self) -> None:
        """Make the private folder of the sockets; only the holder of the lock may."""
        _make_private(self.sockets)

    def lock(self) -> int:
        """Hold the state folder until this process ends, however it ends; refuse a second `up`.

        The lock is on the folder itself, so there is no lock file to go stale.
        """
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise AlreadyRunningError(
                f"benchweb is already running on {self.folder}{self._where_it_runs()}. "
                "Stop that one first, or set BENCHWEB_HOME to another folder."
            ) from None
        return descriptor

    def _where_it_runs(self) -> str:
        try:
            runtime = json.loads(self.runtime_file.read_text(encoding="utf-8"))
            return f": {page_address(runtime['port'])} (process {runtime['pid']})"
        except (OSError, ValueError, KeyError):
            return " (it has only just started)"

    def secret(self, name: str, *, make: bool = True) -> str:
        """Read a secret file, made with random text of 256 bits when it is missing."""
        path = self.folder / name
        try:
            text = path.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            text = ""
        if not text and make:
            text = secrets.token_urlsafe(32)
            write_atomically(path, text + "\n")
        return text

    def write_runtime(self, values: Mapping[str, Any]) -> None:
        """Tell other commands where this start's servers are."""
        write_atomically(self.runtime_file, json.dumps(values, indent=1) + "\n")

    def stamp(self, name: str) -> str:
        """Read what was remembered under `name`, empty when nothing was."""
        try:
            return (self.folder / "stamps" / name).read_text(encoding="utf-8")
        except OSError:
            return ""

    def set_stamp(self, name: str, value: str) -> None:
        """Remember `value` under `name`."""
        write_atomically(self.folder / "stamps" / name, value)

    def clean(self) -> None:
        """Remove what only a running `up` needs."""
        with contextlib.suppress(OSError):
            self.runtime_file.unlink(missing_ok=True)
        shutil.rmtree(self.sockets, ignore_errors=True)


def write_atomically(path: Path, text: str) -> None:
    """Write a private file that is there whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise SetupError(f"{path} can't be written ({error.strerror}): make room there, then try again.") from error


def digest_of_files(paths: Iterable[Path]) -> str:
    """Hash the names and contents of files and of everything in folders; a missing one counts too."""
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                digest.update(f"{file.relative_to(path.parent)}\0{content}\n".encode())
    return digest.hexdigest()


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    owners = {os.getuid(), unprivileged_account().pw_uid} if root_needs_another_owner() else {os.getuid()}
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in owners or status.st_mode & 0o077:
        raise SetupError(f"{folder} exists but isn't a private folder of yours: remove it and start again.")
