"""The file of a backup: a ZIP with PostgreSQL's dump and a manifest that proves it; written whole or not at all."""

import fcntl
import hashlib
import hmac
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from benchweb.ops.backups.errors import BackupError, told_of
from benchweb.ops.backups.proof import TableProof

FORMAT = 1
DUMP, MANIFEST = "database.dump", "manifest.json"
PART_SUFFIX = ".part"
CHUNK_BYTES = 1 << 20
# More is no manifest of ours.
_MANIFEST_BYTES = 16 << 20
_NOTHING_CHANGED = "Nothing was changed. Take another copy of the file, or another backup."


@dataclass(frozen=True)
class Manifest:
    """What a backup holds: of which moment, installation, version and key, and what its tables have to be."""

    format: int
    made_at: datetime
    # What people call the installation: its address or machine.
    of: str
    benchweb: str
    postgresql: str
    # By app, the names of those that were done.
    migrations: dict[str, list[str]]
    secret_key: str
    database_bytes: int
    dump_bytes: int
    dump_sha256: str
    tables: dict[str, TableProof]

    def as_json(self) -> str:
        """Return it as it is stored."""
        return json.dumps({**asdict(self), "made_at": self.made_at.isoformat()}, indent=1, sort_keys=True) + "\n"

    @classmethod
    def parsed(cls, text: bytes) -> "Manifest":
        """Read it; raise KeyError, TypeError or ValueError for what is none."""
        data = json.loads(text)
        tables = {name: TableProof(**proof) for name, proof in data["tables"].items()}
        return cls(**{**data, "made_at": datetime.fromisoformat(data["made_at"]), "tables": tables})


def key_fingerprint(key: str) -> str:
    """Return by what a secret key is recognised, and what tells nothing of it."""
    return hmac.new(key.encode(), b"benchweb backup", hashlib.sha256).hexdigest()[:16]


def is_of_known_key(manifest: Manifest) -> bool:
    """Tell whether what is encrypted in a backup can be read with one of this installation's keys."""
    # Django refuses to tell an empty one.
    with suppress(ImproperlyConfigured):
        return manifest.secret_key in map(key_fingerprint, (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))
    return False


@contextmanager
def new_archive(path: Path) -> Iterator["ArchiveDraft"]:
    """Write a backup under a name of its own; it has its real one once all of it is on the disk."""
    draft_path = path.with_name(f".{path.name}{PART_SUFFIX}")
    with told_of(path.parent):
        descriptor = _opened_draft(draft_path)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                    yield ArchiveDraft(archive)
                file.flush()
                os.fsync(file.fileno())
                # Still locked: nobody takes it for one that was left.
                draft_path.replace(path)
            _sync_folder(path.parent)
        finally:
            with suppress(OSError):
                draft_path.unlink(missing_ok=True)


def _opened_draft(path: Path) -> int:
    """Open a new file, never what somebody else put there, and lock it for as long as it is open."""
    _remove_if_left(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    # A file system without locks keeps what a killed backup leaves.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def remove_left_drafts(folder: Path, prefix: str) -> None:
    """Remove what killed backups left; who still writes one has it locked."""
    for path in folder.glob(f".{prefix}-*{PART_SUFFIX}"):
        _remove_if_left(path)


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class ArchiveDraft:
    """A backup that is being written."""

    _archive: zipfile.ZipFile

    def add_dump(self, source: IO[bytes]) -> tuple[int, str]:
        """Add all that a program puts out; return its bytes and their SHA-256."""
        count, digest = 0, hashlib.sha256()
        with self._archive.open(DUMP, "w", force_zip64=True) as member:
            while chunk := source.read(CHUNK_BYTES):
                member.write(chunk)
                digest.update(chunk)
                count += len(chunk)
        return count, digest.hexdigest()

    def add_manifest(self, manifest: Manifest) -> None:
        """Add the manifest."""
        self._archive.writestr(MANIFEST, manifest.as_json())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_manifest(path: Path) -> Manifest:
    """Read what a backup says of itself; raise BackupError where it is none, cut off or of a later format."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(MANIFEST).file_size > _MANIFEST_BYTES:
                raise ValueError
            text = archive.read(MANIFEST)
        form = json.loads(text)["format"]
        if form == FORMAT:
            return Manifest.parsed(text)
    except FileNotFoundError:
        raise BackupError(f"There is no file {path}. Nothing was changed.") from None
    except OSError as error:
        raise BackupError(f"{path} can't be read: {error.strerror}. Nothing was changed.") from error
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError, EOFError, RuntimeError):
        raise BackupError(
            f"{path} is no whole backup: it is cut off, changed or none at all. {_NOTHING_CHANGED}"
        ) from None
    raise BackupError(
        f"{path} is a backup of format {form}, made by a later version: upgrade first. Nothing was changed."
    )


def check_dump(path: Path, manifest: Manifest) -> None:
    """Read the whole dump; raise BackupError where it isn't what was written."""
    digest = hashlib.sha256()
    count = pass_dump(path, digest.update)
    if (count, digest.hexdigest()) != (manifest.dump_bytes, manifest.dump_sha256):
        raise BackupError(f"{path} is damaged: its checksum is another one. {_NOTHING_CHANGED}")


def pass_dump(path: Path, taker: Callable[[bytes], Any]) -> int:
    """Pass a backup's dump on in pieces; return its size in bytes; raise BackupError where it is damaged."""
    count = 0
    try:
        with zipfile.ZipFile(path) as archive, archive.open(DUMP) as member:
            while chunk := member.read(CHUNK_BYTES):
                taker(chunk)
                count += len(chunk)
    except BrokenPipeError:
        # The taker's, which says itself why it takes no more.
        raise
    except OSError as error:
        raise BackupError(f"{path} can't be read: {error.strerror or error}. {_NOTHING_CHANGED}") from error
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError, ValueError):
        raise BackupError(f"{path} is damaged: its checksum is another one. {_NOTHING_CHANGED}") from None
    return count
