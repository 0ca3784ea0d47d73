"""List what the commands need of the machine, and the Debian packages that bring it; the only such list.

Standard library only: it is read before there are any packages.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

OLDEST_CARGO = (1, 85)
VERSION_SECONDS = 20
ARM_TARGET = "aarch64-unknown-linux-gnu"
DEBIAN_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True)
class Requirement:
    """Something of the machine; `commands` need it, `packages` are Debian's, `other_way` is for other systems."""

    name: str
    is_met: Callable[[], bool]
    packages: tuple[str, ...]
    commands: tuple[str, ...]
    other_way: str = ""

    @property
    def command(self) -> str:
        """Return what to type where it is missing."""
        if not self.packages:
            return self.other_way
        install = f"sudo apt install {' '.join(self.packages)}"
        return f"{install} ({self.other_way})" if self.other_way else install


def missing(command: str) -> list[Requirement]:
    """Return what `command` needs and this machine lacks."""
    return [requirement for requirement in REQUIREMENTS if command in requirement.commands and not requirement.is_met()]


def by_name(name: str) -> Requirement:
    """Return one requirement; KeyError for a name that is none."""
    return {requirement.name: requirement for requirement in REQUIREMENTS}[name]


def cargo_path() -> Path:
    """Return where cargo is, or where rustup would put it."""
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    found = shutil.which("cargo")
    return Path(found) if found else home / "bin" / "cargo"


def program_version(program: str | Path) -> tuple[int, ...]:
    """Return the first version number that `program --version` prints; (0, 0) when it doesn't run."""
    printed = _output(program, "--version")
    version = re.search(r"(\d+)\.(\d+)", printed)
    return (int(version[1]), int(version[2])) if version else (0, 0)


def _program(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name) for name in names)


def _has_rust() -> bool:
    return program_version(cargo_path()) >= OLDEST_CARGO


def _has_rust_checks() -> bool:
    return bool(_output(cargo_path(), "clippy", "--version") and _output(cargo_path(), "fmt", "--version"))


def _has_arm_rust() -> bool:
    if shutil.which("rustup"):
        return True
    folder = _output(
        shutil.which("rustc") or cargo_path().with_name("rustc"), "--print", "target-libdir", "--target", ARM_TARGET
    )
    return bool(folder) and Path(folder).is_dir()


def _has_venv() -> bool:
    return bool(_output(DEBIAN_PYTHON, "-c", "import ensurepip; print(ensurepip.version())"))


def _has_uv_or_venv() -> bool:
    return shutil.which("uv") is not None or _has_venv()


def _has_ldap_library() -> bool:
    """Tell whether C programs find OpenLDAP's and SASL's headers."""
    return all(Path("/usr/include", name).exists() for name in ("ldap.h", "sasl/sasl.h"))


def _has_token_buckets() -> bool:
    """Tell whether a link can be paced, in a network namespace that is gone afterwards."""
    bucket = "tc qdisc add dev lo root tbf rate 1mbit burst 16kb latency 50ms && echo paced"
    return _output("unshare", "--net", "sh", "-c", bucket) == "paced"


def _has_mounts() -> bool:
    """Tell whether a file system can be mounted, in a mount namespace that is gone afterwards."""
    return _output("unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt && echo mounted") == "mounted"


def _output(program: str | Path, *words: str) -> str:
    """Return what a program prints, "" when it fails or isn't there."""
    try:
        done = subprocess.run(
            [program, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


RUST = "Rust"
RUST_CHECKS = "Rust's formatter and linter"
GIT = "Git"
# The old headless mode: no desktop's libraries, and a fifth less time than a whole browser without a window.
CHROMIUM = "chromium-headless-shell"
LDAP_LIBRARY = "LDAP library"
_RUSTUP = "or Rust 1.85 or newer by rustup, https://rustup.rs"
REQUIREMENTS = (
    Requirement(
        "uv or python3-venv", _has_uv_or_venv, ("python3-venv",), ("up", "test"), "or uv, https://docs.astral.sh/uv"
    ),
    Requirement("C compiler", _program("cc"), ("gcc", "libc6-dev"), ("up", "test")),
    Requirement(RUST, _has_rust, ("rustc-web", "cargo-web"), ("up", "test"), _RUSTUP),
    Requirement(RUST_CHECKS, _has_rust_checks, ("rustfmt-web", "rust-web-clippy"), ("test",), _RUSTUP),
    Requirement(GIT, _program("git"), ("git",), ("test",)),
    Requirement("Chromium", _program(CHROMIUM), (CHROMIUM,), ("test",)),
    Requirement("systemd-analyze", _program("systemd-analyze"), ("systemd",), ("test",)),
    Requirement("unshare", _program("unshare"), ("util-linux",), ("test",)),
    Requirement("fio", _program("fio"), ("fio",), ("test",)),
    Requirement("curl", _program("curl"), ("curl",), ("test",)),
    Requirement("wget", _program("wget"), ("wget",), ("test",)),
    Requirement("ip", lambda: bool(shutil.which("ip") or shutil.which("/usr/sbin/ip")), ("iproute2",), ("test",)),
    Requirement(
        "ethtool",
        lambda: bool(shutil.which("ethtool") or shutil.which("/usr/sbin/ethtool")),
        ("ethtool",),
        ("test",),
    ),
    Requirement(
        "nftables",
        lambda: bool(shutil.which("nft") or shutil.which("/usr/sbin/nft")),
        ("nftables",),
        ("test",),
    ),
    Requirement(
        "network namespaces",
        lambda: os.geteuid() == 0 and Path("/dev/net/tun").exists() and by_name("ip").is_met(),
        ("iproute2",),
        ("test",),
        "and be root, on a kernel with TUN: sudo modprobe tun",
    ),
    Requirement(
        "tc tbf",
        _has_token_buckets,
        ("iproute2",),
        ("test",),
        "and be root, on a kernel with token buckets: sudo modprobe sch_tbf",
    ),
    # A disk that a test may fill.
    Requirement("mounts", _has_mounts, ("mount", "util-linux"), ("test",), "and be root"),
    Requirement(
        "ARM compiler and emulator",
        _program("qemu-aarch64-static", "aarch64-linux-gnu-gcc"),
        ("qemu-user-static", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
        ("test",),
    ),
    # Debian's Rust has no other machine's standard library beside its own.
    Requirement("Rust for ARM", _has_arm_rust, (), ("test",), "install Rust by rustup, https://rustup.rs"),
    Requirement("Debian's Python with venv", _has_venv, ("python3-venv",), ("test",)),
    Requirement("slapd", lambda: Path("/usr/sbin/slapd").exists(), ("slapd",), ("test",)),
    # Python's LDAP library is compiled against these.
    Requirement(LDAP_LIBRARY, _has_ldap_library, ("libldap-dev", "libsasl2-dev", "python3-dev"), ("test",)),
    Requirement("useradd", lambda: Path("/usr/sbin/useradd").exists(), ("passwd",), ("test",)),
)
