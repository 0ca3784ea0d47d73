"""CPU time of everything that a tool starts, to the nanosecond: a control group's own account."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ControlGroup:
    """A group of version 2 without controllers: the kernel accounts CPU time in each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def joined(self, *words: str) -> list[str]:
        """The command that runs these words as a member; what it starts is a member too."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *words]

    def cpu_seconds(self) -> float:
        """What members have taken so far, ended ones and zombies included.

        `/proc/PID/stat` is no substitute: it tells of children only once they were waited for, whole runs late.
        """
        for line in (self.folder / "cpu.stat").read_text().splitlines():
            if line.startswith("usage_usec "):
                return int(line.split()[1]) / 1e6
        raise SystemExit(f"{self.folder}/cpu.stat has no usage_usec")


@contextmanager
def control_group(name: str) -> Iterator[ControlGroup]:
    """A new group, removed afterwards; its members must have ended by then."""
    folder = hierarchy() / f"benchweb-{name}-{os.getpid()}-{secrets.token_hex(2)}"
    try:
        folder.mkdir()
    except OSError as error:
        raise SystemExit(f"Can't make a control group to count CPU time in: {error}. Run as root.") from error
    try:
        yield ControlGroup(folder)
    finally:
        folder.rmdir()


def hierarchy() -> Path:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    raise SystemExit("No cgroup2 file system is mounted: mount -t cgroup2 none /sys/fs/cgroup/unified")
