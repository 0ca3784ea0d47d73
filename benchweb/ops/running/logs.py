"""The children's output: bounded log files, errors on the console; standard library only."""

import re
from pathlib import Path

LOG_BYTES = 4 * 1024 * 1024
TAIL_LINES = 12
_ERROR = re.compile(rb"\b(ERROR|CRITICAL|FATAL|PANIC)\b|^Traceback |panicked at")
# A statement that PostgreSQL refuses is its client's to report.
_SERVER_FAULT = re.compile(rb"\b(FATAL|PANIC)\b")


class ChildLog:
    """Keep a child's output in NAME.log (and NAME.log.1), and tell which lines a person should see."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.log"
        self._file = self._path.open("ab")
        self._pattern = _SERVER_FAULT if name == "postgres" else _ERROR
        self._rest = b""

    def write(self, data: bytes) -> list[str]:
        """Append output; return its whole lines that speak of an error."""
        if self._file.tell() > LOG_BYTES:
            self._rotate()
        self._file.write(data)
        self._file.flush()
        *lines, self._rest = (self._rest + data).split(b"\n")
        # A program that never ends its line must not fill the memory.
        self._rest = self._rest[-64_000:]
        return [line.decode(errors="replace") for line in lines if self._pattern.search(line)]

    def tail(self) -> str:
        """Return the last lines, for the report of a failure."""
        with self._path.open("rb") as file:
            file.seek(max(0, self._path.stat().st_size - 16_384))
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-TAIL_LINES:])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rotate(self) -> None:
        self._file.close()
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        self._file = self._path.open("ab")
