"""Read an interface's counters often, so that a window's share of them can be told afterwards."""

from __future__ import annotations

import signal
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE

from bench.truth.ground.topology import PROJECT, Failed, Namespace, process

INTERVAL_SECONDS = 0.001
NAMES = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets")


@dataclass
class Readings:
    """Counters over time, by the wall clock in seconds."""

    times: list[float] = field(default_factory=list)
    counters: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in NAMES})

    def add(self, line: str) -> None:
        moment, *values = line.split()
        self.times.append(int(moment) / 1e9)
        for name, value in zip(NAMES, values, strict=True):
            self.counters[name].append(int(value))

    def at(self, name: str, moment: float) -> float:
        """A counter at a moment between two readings, interpolated."""
        index = bisect_left(self.times, moment)
        if index in (0, len(self.times)):
            raise Failed(f"the moment {moment} lies outside of the {len(self.times)} readings")
        before, after = self.times[index - 1], self.times[index]
        first, second = self.counters[name][index - 1 : index + 1]
        return first + (second - first) * (moment - before) / (after - before)

    def between(self, begin: float, end: float) -> dict[str, float]:
        return {name: self.at(name, end) - self.at(name, begin) for name in NAMES}

    @property
    def widest_gap(self) -> float:
        return max(after - before for before, after in zip(self.times, self.times[1:], strict=False))


@contextmanager
def readings(space: Namespace, device: str) -> Iterator[Readings]:
    """Read while the block runs; the readings are complete when it has ended."""
    taken = Readings()
    # Ahead of the hundreds of threads that it watches, or its readings lie where it was let in.
    words = space.words("chrt", "--fifo", "1", sys.executable, "-m", "bench.truth.ground.sampler", device)
    with process(words, stdout=PIPE, cwd=PROJECT) as child:
        assert child.stdout
        taken.add(child.stdout.readline())
        yield taken
        time.sleep(0.05)
        child.terminate()
        for line in child.stdout.read().splitlines():
            taken.add(line)


def main(device: str) -> None:
    """Print a reading a millisecond until terminated; they are kept in memory, so that no pipe holds them up."""
    files = [Path(f"/sys/class/net/{device}/statistics/{name}").open() for name in NAMES]  # noqa: SIM115
    lines: list[str] = []

    def end(*_: object) -> None:
        sys.stdout.write("".join(lines))
        sys.exit()

    signal.signal(signal.SIGTERM, end)

    def read() -> str:
        for file in files:
            file.seek(0)
        moment = time.time_ns()
        return f"{moment} {' '.join(file.read().strip() for file in files)}\n"

    sys.stdout.write(read())
    sys.stdout.flush()
    while True:
        lines.append(read())
        time.sleep(INTERVAL_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
