"""How well something that happened explains a fall, where the truth is known."""

import random

import pytest

from benchweb.statistics.attribution import Course, Exposure, Panel, chance_of, joint_chance

NIGHTS = 30
HOSTS = 10


def course(host: int, peer: int, values: list[float]) -> Course:
    return Course(frozenset((host, peer)), [float(night) for night in range(len(values))], values)


def panel(fallen: dict[int, int], size: float = 1.0) -> Panel:
    """Make hosts in a ring, each with two neighbours; those named get worse at a night."""
    draw = random.Random("panel")
    courses = []
    for host in range(HOSTS):
        for peer in (host + 1, host + 3):
            ends = (host, peer % HOSTS)
            since = min(fallen.get(end, NIGHTS) for end in ends)
            values = [draw.gauss(0, 0.05) + (size if night >= since else 0.0) for night in range(NIGHTS)]
            courses.append(course(*ends, values))
    return Panel(courses)


def exposures(of: Panel, nights: dict[int, int]) -> list[Exposure]:
    """Expose these hosts at these nights, a moment before their runs."""
    return [
        Exposure(night - 0.5, host, frozenset(unit for unit, each in enumerate(of.courses) if host in each.clusters))
        for host, night in nights.items()
    ]


def test_what_all_series_do_in_a_night_is_nobodys_effect() -> None:
    everywhere = panel(dict.fromkeys(range(HOSTS), 20))
    effect = everywhere.effects(exposures(everywhere, {4: 20}))[0]
    assert effect.size == pytest.approx(0, abs=0.1)
    assert joint_chance([effect]) > 0.05


def test_a_hosts_fall_is_its_effect_and_only_the_moment_it_began_at_is_as_good() -> None:
    one = panel({4: 20})
    right, early, late = (one.effects(exposures(one, {4: night}))[0] for night in (20, 18, 22))
    assert right.size == pytest.approx(1, abs=0.1)
    assert right.interval is not None
    assert right.interval[0] < right.size < right.interval[1]
    assert joint_chance([right]) < 0.01
    assert min(joint_chance([early]), joint_chance([late])) > joint_chance([right])
    assert {shift.unit for shift in right.units} == {
        unit for unit, each in enumerate(one.courses) if 4 in each.clusters
    }


def test_two_hosts_that_fell_with_it_say_more_than_one_and_one_that_did_not_says_less() -> None:
    two = panel({4: 20, 8: 20})

    def chance(nights: dict[int, int]) -> float:
        return joint_chance(two.effects(exposures(two, nights)))

    assert chance({4: 20, 8: 20}) < chance({4: 20}) < chance({4: 20, 2: 20, 6: 12})


def test_an_exposure_of_all_units_is_compared_with_other_nights_alone() -> None:
    everywhere = panel(dict.fromkeys(range(HOSTS), 20))
    every = frozenset(range(len(everywhere.courses)))
    effect = everywhere.effects([Exposure(19.5, None, every)])[0]
    assert effect.others == []
    assert effect.size == pytest.approx(1, abs=0.1)
    assert joint_chance([effect]) == pytest.approx(1 / NIGHTS, rel=0.3)


def test_of_too_few_runs_before_nothing_is_told() -> None:
    short = Panel([course(0, 1, [0.0, 0.0, 1.0]), course(2, 3, [0.0] * 10)])
    assert short.effects([Exposure(1.5, 0, frozenset({0}))]) == []


def test_chance_is_the_share_of_placebos_as_large_and_never_nothing() -> None:
    assert chance_of(3.0, [1.0, 2.0, 3.0, 4.0]) == 2 / 4
    assert chance_of(9.0, [1.0, 2.0, 3.0, 4.0]) == 1 / 4
    assert chance_of(0.0, []) == 1.0


def test_hosts_that_got_it_in_one_night_are_one_draw_and_not_as_many_proofs() -> None:
    """A rack falls, and a kernel comes to other hosts in the same night: chance puts some of them in the rack."""
    likely = 0
    for seed in range(20):
        draw = random.Random(f"rack {seed}")
        rack = panel(dict.fromkeys(draw.sample(range(HOSTS), 3), 20))
        got = dict.fromkeys(draw.sample(range(HOSTS), 4), 20)
        likely += joint_chance(rack.effects(exposures(rack, got))) * 8 <= 0.02
    # Whom it hits for the most part looks like it whatever is counted.
    assert likely <= 4


def test_what_all_hosts_got_in_one_night_has_nothing_to_be_compared_with() -> None:
    one = panel({4: 20})
    effects = one.effects(exposures(one, dict.fromkeys(range(HOSTS), 20)))
    assert [effect.others for effect in effects] == [[]]
    assert joint_chance(effects) >= 1 / NIGHTS


@pytest.mark.parametrize("seed", range(5))
def test_of_events_that_have_nothing_to_do_with_it_few_look_as_if_they_had(seed: int) -> None:
    draw = random.Random(seed)
    quiet = panel({})
    chances = []
    for _ in range(100):
        nights = {host: draw.randrange(5, NIGHTS - 3) for host in draw.sample(range(HOSTS), 3)}
        chances.append(joint_chance(quiet.effects(exposures(quiet, nights))))
    assert sum(chance <= 0.05 for chance in chances) <= 12
