"""The static engines that were built here, for hosts to download: found by what is in the files, not by their names."""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

# Where `cargo static`, cargo for another machine, and the image's build leave them.
_PATTERNS = ("programs/*", "target/release/benchweb-engine-static", "target/*-linux-*/release/benchweb-engine")
# ELF's numbers of machines, by what `uname -m` prints.
_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
_HEAD_BYTES, _INTERPRETER = 64, 3


@dataclass(frozen=True)
class EngineProgram:
    """A program for one architecture."""

    architecture: str
    path: Path
    size_bytes: int
    sha256: str


def engine_programs() -> dict[str, EngineProgram]:
    """Return the newest static engine of each architecture."""
    paths = {path for pattern in _PATTERNS for path in (settings.BASE_DIR / "engine").glob(pattern) if path.is_file()}
    newest: dict[str, EngineProgram] = {}
    for path in sorted(paths, key=lambda file: file.stat().st_mtime_ns):
        state = path.stat()
        program = _program(path, state.st_mtime_ns, state.st_size)
        if program:
            newest[program.architecture] = program
    return newest


# A file is read once: it takes its time to be hashed, and the page of a new host names the hash.
@lru_cache(maxsize=16)
def _program(path: Path, _changed_at: int, size: int) -> EngineProgram | None:
    content = path.read_bytes()
    architecture = _architecture(content)
    return EngineProgram(architecture, path, size, hashlib.sha256(content).hexdigest()) if architecture else None


def _architecture(content: bytes) -> str:
    """Return the architecture of a static program for Linux (ELF, 64 bit, little endian); else nothing."""
    if len(content) < _HEAD_BYTES or content[:6] != b"\x7fELF\x02\x01":
        return ""
    (machine,) = struct.unpack_from("<H", content, 18)
    if _INTERPRETER in _segments(content):
        return ""
    return _MACHINES.get(machine, "")


def _segments(content: bytes) -> Iterator[int]:
    (offset,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    for number in range(count):
        position = offset + number * size
        if position + 4 <= len(content):
            yield struct.unpack_from("<I", content, position)[0]
