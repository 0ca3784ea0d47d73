"""What the parts of a rig cost: memory, CPU time, broker commands, transactions."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import redis

from bench.rig.rig import Rig
from benchweb.ops.running import valkey

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Load:
    """Sampled about once a second; figures are since `begin`."""

    rig: Rig
    extra: dict[str, int] = field(default_factory=dict)
    most_bytes: dict[str, int] = field(default_factory=dict)

    def begin(self) -> None:
        """Take the readings that everything is counted from."""
        self._begun_at = time.monotonic()
        self._cpu_seconds = self._cpu()
        self._transactions = self._committed()
        self._commands = self._processed()

    def sample(self, _: int = 0) -> None:
        """Note the memory of each part, children included, shared pages divided among those that share them."""
        for name, pid in self._pids().items():
            held = sum(_pss_bytes(child) for child in _tree(pid))
            self.most_bytes[name] = max(self.most_bytes.get(name, 0), held)

    def lines(self) -> list[str]:
        """Return what it cost, a line a part."""
        seconds = time.monotonic() - self._begun_at
        cpu = self._cpu()
        texts = [
            f"{name:9} {self.most_bytes.get(name, 0) / 1e6:7.0f} MB at most (PSS), "
            f"{cpu[name] - self._cpu_seconds.get(name, 0):7.1f} s of CPU "
            f"({(cpu[name] - self._cpu_seconds.get(name, 0)) / seconds:.2f} of one)"
            for name in cpu
        ]
        transactions = (self._committed() - self._transactions) / seconds
        commands = (self._processed() - self._commands) / seconds
        return [*texts, f"{transactions:.0f} transactions/s, {commands:.0f} broker commands/s, in {seconds:.1f} s"]

    def _pids(self) -> dict[str, int]:
        return {**{name: process.pid for name, process in self.rig.running.items()}, **self.extra}

    def _cpu(self) -> dict[str, float]:
        return {name: sum(_cpu_seconds(child) for child in _tree(pid)) for name, pid in self._pids().items()}

    def _committed(self) -> int:
        query = "select xact_commit + xact_rollback from pg_stat_database where datname = 'benchweb'"
        return int(self.rig.rows(query)[0][0])

    def _processed(self) -> int:
        broker = redis.Redis(unix_socket_path=str(self.rig.folder / valkey.SOCKET_NAME))
        with broker:
            return int(broker.info("stats")["total_commands_processed"])


def _tree(pid: int) -> list[int]:
    pids = [pid]
    try:
        tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        # It ended in this moment, as PostgreSQL's processes do.
        return pids
    for task in tasks:
        try:
            children = task.read_text().split()
        except OSError:
            continue
        pids += [descendant for child in children for descendant in _tree(int(child))]
    return pids


def _pss_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and of its ended children."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(word) for word in words[11:15]) / TICKS
