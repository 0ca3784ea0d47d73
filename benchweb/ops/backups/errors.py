"""What keeps a backup from being made or restored."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BackupError(Exception):
    """A backup that isn't made or restored; the message says why, what was changed (nothing), and what to do next."""


@contextmanager
def told_of(folder: Path) -> Iterator[None]:
    """Say as a BackupError what is wrong with the folder of a backup."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            text = (
                f"There is no room left in {folder}, and no backup was made: make room there, or name another folder."
            )
            raise BackupError(text) from error
        raise BackupError(f"{error.filename or folder} can't be used: {error.strerror or error}.") from error


@contextmanager
def told_of_restoring() -> Iterator[None]:
    """Say as a BackupError what the disk or the database refuses while a backup is tested, or before it is in place."""
    try:
        yield
    except (OSError, psycopg.Error) as error:
        raise BackupError(f"The backup can't be restored. Nothing was changed. {str(error).strip()}") from error
