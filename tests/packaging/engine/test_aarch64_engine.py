"""The engine for 64-bit ARM, built here and run by qemu's user emulation, at either end of a test."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchweb.catalog import catalog
from benchweb.ops.setup.steps import ENGINE
from tests.packaging.engine import portable
from tests.requirements import require

TARGET = "aarch64-unknown-linux-gnu"
BINARY = ENGINE / "target" / TARGET / "debug" / "benchweb-engine"
NATIVE = ENGINE / "target" / "release" / "benchweb-engine"
EMULATOR = Path("/usr/bin/qemu-aarch64-static")
# The kernel runs ARM programs by the emulator, so that the daemon may start its sessions: in namespaces of our own.
_MAGIC = r"\x7fELF\x02\x01\x01" + r"\x00" * 9 + r"\x02\x00\xb7\x00"
_MASK = r"\xff" * 7 + r"\x00" + r"\xff" * 8 + r"\xfe\xff\xff\xff"
REGISTRATION = f":benchweb-aarch64:M::{_MAGIC}:{_MASK}:{EMULATOR}:F"
EMULATED = [
    "sh",
    "-ec",
    f"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc;"
    f"printf %s '{REGISTRATION}' > /proc/sys/fs/binfmt_misc/register;"
    'exec "$@"',
    "emulated",
]


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> portable.Program:
    require("Rust", "Rust for ARM", "ARM compiler and emulator", "unshare")
    if shutil.which("rustup"):
        subprocess.run(["rustup", "target", "add", TARGET], cwd=ENGINE, check=True, capture_output=True, timeout=120)
    portable.build("arm")
    folder = tmp_path_factory.mktemp("arm")
    return portable.Program(portable.in_own_users(*EMULATED), str(BINARY), folder, str(folder))


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> portable.Program:
    folder = tmp_path_factory.mktemp("native")
    return portable.Program([], str(NATIVE), folder, str(folder))


@pytest.fixture(scope="module")
def arm_control(arm: portable.Program) -> Iterator[str]:
    with portable.served(arm) as control:
        yield control


@pytest.fixture(scope="module")
def native_control(native: portable.Program) -> Iterator[str]:
    with portable.served(native) as control:
        yield control


@pytest.mark.parametrize("kind", catalog().kinds)
def test_an_arm_source_measures_with_a_native_sink(arm: portable.Program, native_control: str, kind: str) -> None:
    result = portable.run(arm, kind, native_control)
    assert portable.headline(result) > 0
    assert result["source"]["architecture"] == "aarch64"
    # The emulator's TCP_INFO is too short to hold anything: absent, and never zero.
    assert "congestion_window_bytes" not in result["metrics"] and "rtt_seconds" not in result["metrics"]


@pytest.mark.parametrize("kind", [name for name, kind in catalog().kinds.items() if not kind.is_of_one_host])
def test_a_native_source_measures_with_an_arm_sink(native: portable.Program, arm_control: str, kind: str) -> None:
    result = portable.run(native, kind, arm_control)
    assert portable.headline(result) > 0
    assert result["sink"]["architecture"] == "aarch64"
