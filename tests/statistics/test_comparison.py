"""Verdicts on repetitions, with samples whose outcome can be told by hand."""

import random

import pytest

from benchweb.statistics import Verdict, difference, verdicts
from benchweb.statistics.comparison import adjusted_p_values, repetitions_needed
from benchweb.statistics.deciding import LARGEST_P_OF_DIFFERENCE
from benchweb.statistics.effect import effect_size

FIVE = [100.0, 101.0, 102.0, 103.0, 104.0]


def judged(baseline: list[float], other: list[float]) -> Verdict:
    (verdict,) = verdicts([difference(baseline, other)])
    return verdict


def test_five_repetitions_that_do_not_overlap_are_different_with_all_figures() -> None:
    found = difference(FIVE, [value - 10 for value in FIVE])
    assert (found.baseline_n, found.n, found.difference) == (5, 5, -10.0)
    assert found.ratio == -10 / 102
    assert found.interval == (-13.0, -7.0)
    assert (found.cliffs_delta, found.effect) == (-1.0, "large")
    assert found.p_value == found.least_p_value == 2 / 252
    assert verdicts([found]) == [Verdict.DIFFERENT]


def test_the_same_samples_are_no_difference_that_these_repetitions_can_show() -> None:
    found = difference(FIVE, FIVE)
    assert (found.difference, found.cliffs_delta, found.effect, found.p_value) == (0.0, 0.0, "negligible", 1.0)
    assert found.interval == (-3.0, 3.0)
    assert verdicts([found]) == [Verdict.NONE_SHOWN]


def test_the_same_value_in_every_repetition_is_told_as_such_however_few() -> None:
    assert judged([0.0] * 5, [0.0] * 5) == Verdict.SAME
    assert judged([7.0], [7.0]) == Verdict.SAME


@pytest.mark.parametrize(("baseline", "other"), [(1, 1), (1, 30), (2, 2), (2, 5), (3, 3)])
def test_too_few_repetitions_tell_nothing_however_far_apart(baseline: int, other: int) -> None:
    samples = [100.0 + place for place in range(baseline)], [900.0 + place for place in range(other)]
    found = difference(*samples)
    assert verdicts([found]) == [Verdict.TOO_FEW]
    assert found.least_shift_shown is None
    assert (found.interval is None) == (min(baseline, other) < 3)


def test_four_repetitions_each_are_the_fewest_that_can_show_a_difference() -> None:
    assert repetitions_needed() == 4
    assert judged(FIVE[:4], [900.0, 901.0, 902.0, 903.0]) == Verdict.DIFFERENT
    assert judged(FIVE[:3], [900.0, 901.0, 902.0]) == Verdict.TOO_FEW


def test_one_small_p_value_among_many_is_only_perhaps() -> None:
    clear = difference(FIVE, [value + 10 for value in FIVE])
    alike = [difference(FIVE, [value + shift for value in FIVE]) for shift in (0.5, -0.5, 1.5, -1.5, 0.25, -0.25, 1)]
    assert verdicts([clear, *alike[:5]])[0] == Verdict.DIFFERENT
    assert verdicts([clear, *alike])[0] == Verdict.PERHAPS
    assert set(verdicts([clear, *alike])[1:]) == {Verdict.NONE_SHOWN}


def test_what_could_not_differ_makes_no_other_verdict_weaker() -> None:
    clear, constant, few = difference(FIVE, [90.0] * 5), difference([1.0] * 5, [1.0] * 5), difference([1.0], [2.0])
    found = verdicts([constant] * 50 + [clear] + [few] * 50)
    assert found == [Verdict.SAME] * 50 + [Verdict.DIFFERENT] + [Verdict.TOO_FEW] * 50


def test_adjusted_p_values_are_those_of_a_worked_example() -> None:
    # Benjamini and Hochberg by hand: 0.01·4/1, 0.02·4/2, 0.03·4/3 and 0.5·4/4, made monotonous from the largest down.
    assert adjusted_p_values([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.04, 0.04, 0.5, 0.04])
    assert adjusted_p_values([]) == []


def test_the_order_of_repetitions_changes_nothing_and_swapping_the_runs_turns_the_signs() -> None:
    there = [99.0, 97.5, 103.0, 101.5, 98.0, 100.5]
    found, shuffled, back = difference(FIVE, there), difference(FIVE[::-1], there[::-1]), difference(there, FIVE)
    assert found == shuffled
    assert (back.difference, back.cliffs_delta) == (-found.difference, -found.cliffs_delta)
    assert found.interval is not None
    assert back.interval == (-found.interval[1], -found.interval[0])
    assert (back.p_value, back.least_shift_shown) == (found.p_value, found.least_shift_shown)


def test_the_least_shift_that_would_show_does_and_a_hair_less_does_not() -> None:
    for seed in range(50):
        draw = random.Random(seed)
        here, there = ([draw.gauss(100, 3) for _ in range(draw.randint(4, 9))] for _ in range(2))
        # Moved by the median of all differences (Hodges and Lehmann): then the test sees no leaning at all.
        apart = sorted(b - a for a in here for b in there)
        middle = (apart[(len(apart) - 1) // 2] + apart[len(apart) // 2]) / 2
        centred = [value - middle for value in there]
        least = difference(here, centred).least_shift_shown
        assert least is not None
        more, less = ([[v + way * least * by for v in centred] for way in (1, -1)] for by in (1.000001, 0.999999))
        assert all(difference(here, each).p_value <= LARGEST_P_OF_DIFFERENCE for each in more)
        assert any(difference(here, each).p_value > LARGEST_P_OF_DIFFERENCE for each in less)


def test_a_difference_from_zero_has_no_share() -> None:
    found = difference([0.0] * 5, [2.0] * 5)
    assert (found.difference, found.ratio, found.interval) == (2.0, None, (2.0, 2.0))


@pytest.mark.parametrize(
    ("delta", "words"), [(0.1, "negligible"), (-0.147, "small"), (0.33, "medium"), (-0.474, "large"), (1.0, "large")]
)
def test_effect_sizes_have_the_words_of_romano(delta: float, words: str) -> None:
    assert effect_size(delta) == words


def test_runs_that_do_not_differ_are_called_different_less_often_than_stated() -> None:
    """500 pages of 20 measures each, drawn from one distribution per measure: at most 5 % may say anything at all."""
    draw = random.Random(5)
    pages, loud, alone, single = 500, 0, 0, 0
    for _ in range(pages):
        samples = [([draw.lognormvariate(0, 0.1) for _ in range(5)] for _ in range(2)) for _ in range(20)]
        found = [difference(*pair) for pair in samples]
        loud += Verdict.DIFFERENT in verdicts(found)
        alone += sum(each.is_significant for each in found)
        single += len(found)
    assert loud <= LARGEST_P_OF_DIFFERENCE * pages
    # The exact test of 5 and 5 says so in 8 of 252 orders; four standard errors beside that are 0.7 %.
    assert abs(alone / single - 8 / 252) < 0.007
