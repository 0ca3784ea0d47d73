"""A wall clock that can be stepped, and a scene whose web, worker and beat live by it; PostgreSQL keeps its own.

Needs a C compiler, as the engine's build does. Monotonic clocks are left alone, as by a real step.
"""

import random
import struct
import subprocess
from pathlib import Path

from bench.faults.scene import Scene

SOURCE = Path(__file__).with_name("clock.c")
STEP_SECONDS = 3600


class Clock:
    """The wall clock of every process that was started with its environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        library = folder / "clock.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        self._file.write_bytes(struct.pack("=q", 0))
        self.environment = {"LD_PRELOAD": str(library), "BENCH_CLOCK": str(self._file)}
        self.offset_seconds = 0

    def step(self, seconds: int) -> None:
        """Step it, at once for all."""
        self.offset_seconds += seconds
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", self.offset_seconds))


class ClockScene(Scene):
    """As the simulated scene, with a hand on the clock of web, worker and beat."""

    clock: Clock

    def _fill(self) -> None:
        super()._fill()
        self.clock = Clock(self.rig.folder)

    def start(self, part: str) -> None:
        is_ours = part.partition("-")[0] in self.parts
        self.rig.start(part, environment=self.clock.environment if is_ours else None)


def clock_stepped(scene: Scene, chance: random.Random) -> None:
    """Step it an hour forward, and the next time back."""
    assert isinstance(scene, ClockScene)
    scene.clock.step(-STEP_SECONDS if scene.clock.offset_seconds else STEP_SECONDS)
