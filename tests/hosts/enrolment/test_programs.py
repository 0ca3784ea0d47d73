"""The programs that hosts download: told by what is in the files."""

import hashlib
import os
import struct
from pathlib import Path

import pytest
from pytest_django import Settings

from benchweb.hosts.enrolment.programs import engine_programs

LOAD, INTERPRETER = 1, 3
X86_64, AARCH64, SPARC = 62, 183, 43


def elf(machine: int, *segments: int, more: bytes = b"") -> bytes:
    """Make the beginning of a program for Linux, 64 bit and little endian, with these segments."""
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<H", head, 18, machine)
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<HH", head, 54, 56, len(segments))
    return bytes(head) + b"".join(struct.pack("<I", each).ljust(56, b"\0") for each in segments) + more


@pytest.fixture
def engine(tmp_path: Path, settings: Settings) -> Path:
    settings.BASE_DIR = tmp_path
    return tmp_path / "engine"


def put(path: Path, content: bytes, *, age: int = 0) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (1_800_000_000 - age, 1_800_000_000 - age))
    return content


def test_static_programs_are_served_by_architecture_wherever_they_were_built(engine: Path) -> None:
    native = put(engine / "target/release/benchweb-engine-static", elf(X86_64, LOAD))
    arm = put(engine / "target/aarch64-unknown-linux-gnu/release/benchweb-engine", elf(AARCH64, LOAD))
    found = engine_programs()
    assert {name: program.sha256 for name, program in found.items()} == {
        "x86_64": hashlib.sha256(native).hexdigest(),
        "aarch64": hashlib.sha256(arm).hexdigest(),
    }
    assert found["x86_64"].size_bytes == len(native)


def test_what_needs_a_library_or_is_no_program_is_left_out(engine: Path) -> None:
    put(engine / "target/release/benchweb-engine-static", elf(X86_64, LOAD, INTERPRETER))
    put(engine / "programs/notes.txt", b"not a program")
    put(engine / "programs/short", b"\x7fELF\x02\x01")
    put(engine / "programs/sparc", elf(SPARC, LOAD))
    assert engine_programs() == {}


def test_the_newest_of_an_architecture_is_served_and_a_new_build_is_noticed(engine: Path) -> None:
    put(engine / "programs/benchweb-engine", elf(X86_64, LOAD, more=b"old"), age=100)
    built = engine / "target/release/benchweb-engine-static"
    new = put(built, elf(X86_64, LOAD, more=b"new"), age=50)
    assert engine_programs()["x86_64"].sha256 == hashlib.sha256(new).hexdigest()
    newer = put(built, elf(X86_64, LOAD, more=b"!!!"))
    assert engine_programs()["x86_64"].sha256 == hashlib.sha256(newer).hexdigest()
