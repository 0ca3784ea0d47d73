"""What is told of the engine's build: replayed from two builds as cargo told of them, line by line with its second."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchweb.ops.setup.countdown import COSTS, Countdown
from benchweb.ops.setup.steps import ENGINE

RECORDED = Path(__file__).parent / "recorded"


def replayed(name: str) -> Iterator[tuple[float, float | None, float]]:
    """Yield each second of a build on two processors, what was told then, and how long it truly went on."""
    lines = [line.split(" ", 1) for line in (RECORDED / name).read_text(encoding="utf-8").splitlines()]
    end = float(lines[-1][0])
    countdown = Countdown(processors=2)
    for second in range(1, int(end)):
        while float(lines[0][0]) <= second:
            at, line = lines.pop(0)
            countdown.note(line, float(at))
        yield second, countdown.seconds_left(second), end - second


def test_what_is_told_holds_within_thirty_percent_once_the_machine_is_known() -> None:
    """Judge a build of 446 s, beside work that made it two, then five times as slow as the measured one."""
    for second, told, left in replayed("slow_build.txt"):
        assert told is not None, second
        if second >= 130:
            assert left / 1.3 <= told <= left * 1.3 or abs(told - left) <= 22, (second, told, left)


def test_a_build_that_other_work_disturbs_takes_longer_than_expected() -> None:
    """Judge a build whose last crates met other work: nobody could know, and hardly ever is its end announced."""
    moments = list(replayed("disturbed_build.txt"))
    late = [second for second, told, _ in moments if told == 0]
    assert len(late) >= 30
    assert all(told == 0 or told == pytest.approx(left, abs=5) for second, told, left in moments if second >= late[0])
    assert len([second for second, told, _ in moments if told and told < 3]) <= 5


def test_nothing_is_told_before_cargo_counts() -> None:
    countdown = Countdown(processors=2)
    countdown.note("    Updating crates.io index", 1.0)
    assert countdown.seconds_left(2.0) is None


def test_where_only_the_engines_own_crates_are_stale_only_they_are_counted() -> None:
    countdown = Countdown(processors=2)
    countdown.note("    Building [=====> ] 130/133: kinds", 0.5)
    left = countdown.seconds_left(0.5)
    assert left and COSTS["kinds"] <= left <= COSTS["kinds"] + COSTS["agent"]
    countdown = Countdown(processors=2)
    countdown.note("    Building [=====> ] 132/133: benchweb-engine-static(bin)", 0.5)
    assert countdown.seconds_left(0.5) == 1.0


def test_with_many_processors_the_crates_that_wait_for_each_other_are_what_it_takes() -> None:
    countdown = Countdown(processors=64)
    countdown.note("    Building [=====> ] 5/133: syn, serde_core", 0.5)
    left = countdown.seconds_left(0.5)
    assert left == pytest.approx(sum(COSTS[name] for name in ("syn", "serde_derive", "proto", "kinds")))


def test_every_crate_with_a_cost_is_one_that_the_engine_is_made_of() -> None:
    locked = set(re.findall(r'^name = "(.+)"', (ENGINE / "Cargo.lock").read_text(encoding="utf-8"), re.MULTILINE))
    assert {name.removesuffix("(build)") for name in COSTS} <= locked
