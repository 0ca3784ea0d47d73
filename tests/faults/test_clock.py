"""A controller's clock that is set while runs are under way: one fault of bench.faults that takes its own scene."""

import random

from bench.faults import clocks
from bench.faults.clocks import ClockScene
from tests.faults.test_faults import ALL_FINISHED


def test_a_clock_that_jumps_an_hour_forth_and_back_loses_and_doubles_nothing() -> None:
    with ClockScene() as scene:
        for _ in range(2):
            found = scene.round(clocks.clock_stepped, 1.5, random.Random("clock_stepped in the tests"))
            assert found.broken == [], scene.rig.log("worker")
            assert found.states == ALL_FINISHED
