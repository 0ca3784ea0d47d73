"""Logs and the console: a line that can't be written is lost, never the program; standard library only."""

import contextlib
import errno
import select
import sys
from collections.abc import Callable
from io import FileIO
from typing import TextIO

# A terminal that is held (Ctrl-S), or a pipe whose reader hangs, gets so long.
PATIENCE_SECONDS = 0.2


class LossyFile:
    """A file that takes what it can; lines that it doesn't are counted, and told in it once it takes more."""

    def __init__(self, opened: Callable[[], FileIO]) -> None:
        self._opened = opened
        self._file: FileIO | None = None
        self._lost_lines = 0
        self._reason = ""

    @property
    def size_bytes(self) -> int:
        """Return how long the open file is; 0 before the first line."""
        return 0 if self._file is None else self._file.tell()

    def write(self, data: bytes) -> None:
        """Append `data`, or count its lines."""
        try:
            if self._lost_lines:
                self._append(f"\n({self._lost_lines} lines could not be written here: {self._reason})\n".encode())
                self._lost_lines = 0
            self._append(data)
        except OSError as error:
            self._lost_lines += max(1, data.count(b"\n"))
            self._reason = error.strerror or str(error)

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _append(self, data: bytes) -> None:
        if self._file is None:
            self._file = self._opened()
        patience_seconds = 0 if self._lost_lines else PATIENCE_SECONDS
        while data:
            # A pipe that is ready takes so much without waiting.
            if not select.select([], [self._file], [], patience_seconds)[1]:
                raise BlockingIOError(errno.EAGAIN, "its reader doesn't take them")
            data = data[self._file.write(data[: select.PIPE_BUF]) :]


def console(stream: TextIO | None) -> LossyFile:
    """Return stderr or stdout, past Python's own buffer: that would keep, and repeat, what failed."""

    def opened() -> FileIO:
        # Python has none where it was started with a closed one, and its number may be another file's by now.
        if stream is None:
            raise OSError(errno.EBADF, "it is closed")
        return FileIO(stream.fileno(), "w", closefd=False)

    return LossyFile(opened)


def say(text: str) -> None:
    """Tell the person at the console."""
    _errors.write(f"{text}\n".encode(errors="replace"))


_errors = console(sys.__stderr__)
