"""A scene whose web, worker and beat live by a clock that can be stepped; PostgreSQL and the engines keep their own.

Needs Debian's package faketime. A step is seen within a second; monotonic clocks are left alone, as by a real one.
"""

import random
from pathlib import Path

from bench.rig.scene import Scene

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
STEPPED, TRUE = "+1h", "+0"


class ClockScene(Scene):
    """As the simulated scene, with a hand on the clock."""

    def start(self, part: str) -> None:
        clock = self.rig.folder / "clock"
        if not clock.exists():
            clock.write_text(TRUE)
        if not LIBRARIES:
            raise RuntimeError("libfaketime is missing: apt install faketime")
        environment = {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.rig.start(part, environment=environment)


def clock_stepped(scene: Scene, chance: random.Random) -> None:
    """Step it an hour forward, and the next time back."""
    clock = scene.rig.folder / "clock"
    clock.write_text(TRUE if clock.read_text() == STEPPED else STEPPED)
