"""Read texts in a process of their own, with limits of time and memory: a hostile one stops that process alone.

`read_apart` starts `python -m benchweb.toolformats.apart` for all files of one request together, and waits for its
answers: a line of JSON a file. The interpreter of the caller, and with it every page, goes on meanwhile.
"""

import json
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from benchweb.toolformats.plain_text import MOST_SECONDS, TAKES_TOO_LONG, Patience, still_wanted
from benchweb.toolformats.readings import Figure, Lines, Reading, ToolDocument, ToolFormatError, Unread

# What 20 MiB of the widest characters take with their lines, thrice.
MOST_MEMORY_BYTES = 768 * 1024 * 1024
# Of all answers together: what five thousand results are.
MOST_ANSWER_BYTES = 64 * 1024 * 1024
# Of a process's CPU beyond its patience: an expression that no check interrupts ends there.
_GRACE_SECONDS = 3
# By the clock, of a machine that is busy with other things too.
MOST_WAIT_SECONDS = 45.0
_POLL_SECONDS = 0.02
# Processes of one server at once; others wait for their turn.
_AT_ONCE = threading.BoundedSemaphore(2)
# Of what a tool printed, for the trial's page; a document keeps no more.
LONGEST_RAW = 10_001
_LENGTH_BYTES = 8
_ROOT = Path(__file__).parents[2]
_FIGURE = tuple(field.name for field in fields(Figure))
TOO_MUCH_MEMORY = "The text needs more memory than it may have to be read. Split it."
READER_FAILED = "The reader failed on this text; the log says why. Leave out what is no tool's output."
FILES_TAKE_TOO_LONG = "The files before this one took too long to read; it was left out. Send fewer at once."
_log = logging.getLogger(__name__)

Answer = ToolDocument | ToolFormatError


def read_apart(contents: Sequence[bytes], is_wanted: Callable[[], None] = still_wanted) -> list[Answer]:
    """Return of each file what it holds, or why it can't be read; all together have one limit of CPU and memory.

    `is_wanted` raises something once nobody waits for the answer: the process is ended then.
    """
    until = time.monotonic() + MOST_WAIT_SECONDS
    while not _AT_ONCE.acquire(timeout=_POLL_SECONDS):
        is_wanted()
        if time.monotonic() > until:
            return [ToolFormatError(TAKES_TOO_LONG) for _ in contents]
    try:
        with TemporaryFile() as questions, TemporaryFile() as answers, TemporaryFile() as errors:
            for content in contents:
                questions.write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)
            questions.seek(0)
            code = _run(questions, answers, errors, until, is_wanted)
            answers.seek(0)
            read = [_answer(line) for line in answers if line.endswith(b"\n")]
            missing = len(contents) - len(read)
            return read + (_failures(code, errors, missing) if missing else [])
    finally:
        _AT_ONCE.release()


def _run(
    questions: IO[bytes], answers: IO[bytes], errors: IO[bytes], until: float, is_wanted: Callable[[], None]
) -> int:
    """Return what the process ended with; one that takes too long is killed."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-m", __name__],
        stdin=questions,
        stdout=answers,
        stderr=errors,
        env={"PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        close_fds=True,
    )
    try:
        while True:
            try:
                return process.wait(_POLL_SECONDS)
            except subprocess.TimeoutExpired:
                is_wanted()
            if time.monotonic() > until:
                return -signal.SIGXCPU
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _failures(code: int, errors: IO[bytes], count: int) -> list[Answer]:
    """Say why a process ended before it answered, and that the files behind were left out."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        first = TAKES_TOO_LONG
    else:
        errors.seek(0)
        said = errors.read(LONGEST_RAW).decode(errors="replace")
        first = TOO_MUCH_MEMORY if "MemoryError" in said or "File too large" in said else READER_FAILED
        _log.error("a text's reader ended with %d: %s", code, said)
    return [ToolFormatError(first), *(ToolFormatError(FILES_TAKE_TOO_LONG) for _ in range(count - 1))]


def _answer(line: bytes) -> Answer:
    said = json.loads(line)
    if "error" in said:
        return ToolFormatError(said["error"])
    readings = [_reading(row) for row in said["readings"]]
    excerpts = {(first, last): text for first, last, text in said["excerpts"]}
    return ToolDocument(tuple(readings), tuple(Unread(*row) for row in said["unread"]), said["begins"], excerpts)


def _reading(row: Mapping[str, Any]) -> Reading:
    return Reading(
        tool=row["tool"],
        test=row["test"],
        kind=row["kind"],
        version=row["version"],
        parameters=row["parameters"],
        figures=[Figure(*values) for values in row["figures"]],
        remarks=row["remarks"],
        error=row["error"],
        began_at=datetime.fromisoformat(row["began_at"]) if row["began_at"] else None,
        lines=Lines(*row["lines"]),
        untold=tuple(row["untold"]),
    )


def main() -> int:
    """Answer each file of standard input by a line of JSON, within the limits."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    seconds = int(MOST_SECONDS) + _GRACE_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_ANSWER_BYTES, MOST_ANSWER_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    patience = Patience()
    for content in _contents(sys.stdin.buffer):
        said = {"error": FILES_TAKE_TOO_LONG} if patience.is_over else _said(content, patience)
        sys.stdout.buffer.write(json.dumps(said).encode() + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _contents(file: IO[bytes]) -> Iterator[bytes]:
    while length := file.read(_LENGTH_BYTES):
        yield file.read(int.from_bytes(length, "big"))


def _said(content: bytes, patience: Patience) -> dict[str, Any]:
    # Every reader, which the caller's process needs none of.
    from benchweb.toolformats.document import read_bytes

    try:
        document = read_bytes(content, patience)
    except ToolFormatError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": TOO_MUCH_MEMORY}
    # Once for all interfaces of a table.
    excerpts = {(each.lines.first, each.lines.last): document.raw(each)[:LONGEST_RAW] for each in document}
    return {
        "readings": [_row(reading) for reading in document],
        "excerpts": [[first, last, text] for (first, last), text in excerpts.items()],
        "unread": [[unread.line, unread.text, unread.reason] for unread in document.unread],
        "begins": document.begins,
    }


def _row(reading: Reading) -> dict[str, Any]:
    """Return a reading without its intervals: nobody asks for a day's rows."""
    return {
        "tool": reading.tool,
        "test": reading.test,
        "kind": reading.kind,
        "version": reading.version,
        "parameters": reading.parameters,
        "figures": [[getattr(figure, name) for name in _FIGURE] for figure in reading.figures],
        "remarks": reading.remarks,
        "error": reading.error,
        "began_at": reading.began_at.isoformat() if reading.began_at else None,
        "lines": [reading.lines.first, reading.lines.last],
        "untold": reading.untold,
    }


if __name__ == "__main__":
    # The caller decides how long; an interrupt of a terminal is for it to take.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    sys.exit(main())
