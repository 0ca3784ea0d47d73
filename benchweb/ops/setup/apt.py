"""Install missing Debian packages where nobody has to be asked for a password; standard library only."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from benchweb.ops.setup import requirements
from benchweb.ops.setup.requirements import Requirement

# A slow mirror takes minutes, one that doesn't answer must not take the night.
INSTALL_SECONDS = 900
_APT = ("apt-get", "-q", "-y", "-o", "Acquire::http::Timeout=30", "-o", "Acquire::Retries=2")


def install_missing(command: str) -> list[Requirement]:
    """Install what `command` needs, saying so, as root or by a sudo that asks nothing; return what is still missing."""
    absent = requirements.missing(command)
    installable = [requirement for requirement in absent if requirement.packages]
    prefix = _as_root()
    if not installable or prefix is None:
        return absent
    packages = list(dict.fromkeys(package for requirement in installable for package in requirement.packages))
    print(f"{command}: installing Debian packages: {' '.join(packages)}", flush=True)
    _run([*prefix, *_APT, "update"])
    if not _install(prefix, packages):
        # One that this release doesn't have must not keep the others away.
        for requirement in installable:
            _install(prefix, requirement.packages)
    return requirements.missing(command)


def _as_root() -> list[str] | None:
    """Return what to put before a command that needs root; None where apt or a silent way to root is missing."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["env", "DEBIAN_FRONTEND=noninteractive"]
    if shutil.which("sudo") and _run(["sudo", "-n", "true"]):
        return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"]
    return None


def _install(prefix: Sequence[str], packages: Sequence[str]) -> bool:
    return _run([*prefix, *_APT, "install", "--no-install-recommends", *packages])


def _run(words: Sequence[str]) -> bool:
    """Run a command quietly; print the end of what it says when it fails."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{words[0]}: {error}", flush=True)
        return False
    if done.returncode != 0 and "apt-get" in words:
        print("\n".join(done.stdout.splitlines()[-5:]), flush=True)
    return done.returncode == 0
