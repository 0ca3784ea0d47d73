"""The static engine: one file that runs in an empty root, and as on the kernel of CentOS 7."""

import shutil
import struct
import sys
from pathlib import Path

import pytest

from benchweb.catalog import catalog
from benchweb.ops.setup.steps import ENGINE
from tests.packaging.engine import portable

pytestmark = pytest.mark.needs("Rust", "unshare")

KINDS = list(catalog().kinds)
BINARY = ENGINE / "target" / "release" / "benchweb-engine-static"
PROGRAM_HEADER_INTERPRETER = 3


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    portable.build("static")


def _program_headers(path: Path) -> list[int]:
    """Read the types of an ELF file's program headers (64 bit, little endian)."""
    with path.open("rb") as file:
        head = file.read(64)
        offset, size, count = *struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
    return [struct.unpack_from("<I", table, place * size)[0] for place in range(count)]


def test_the_program_asks_for_no_interpreter_and_the_usual_one_does() -> None:
    assert PROGRAM_HEADER_INTERPRETER not in _program_headers(BINARY)
    assert PROGRAM_HEADER_INTERPRETER in _program_headers(ENGINE / "target" / "release" / "benchweb-engine")


def test_every_kind_runs_in_a_root_that_holds_nothing_but_the_program(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    shutil.copy(BINARY, root / "benchweb-engine")
    program = portable.Program(portable.in_own_users("chroot", str(root)), "/benchweb-engine", root, "/")
    with portable.served(program) as control:
        for kind in KINDS:
            result = portable.run(program, kind, control)
            assert portable.headline(result) > 0
            assert result["source"]["missing"], "without /proc there is something to miss"


def test_every_kind_runs_as_on_linux_3_10(tmp_path: Path) -> None:
    prefix = [sys.executable, "-m", "tests.packaging.engine.old_kernel"]
    program = portable.Program(prefix, str(BINARY), tmp_path, str(tmp_path))
    with portable.served(program) as control:
        for kind in KINDS:
            result = portable.run(program, kind, control)
            assert portable.headline(result) > 0
    source = result["source"]
    assert source["features"]["udp_segmentation"] is False
    assert any("UDP_SEGMENT came with Linux 4.18" in line for line in source["missing"])
