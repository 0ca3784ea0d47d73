"""The comparison's figures against scipy's on 1,000 random cases."""

import random
from collections.abc import Callable, Iterator

import numpy
import pytest
from scipy import stats

from benchweb.statistics.bootstrap import median_difference_interval
from benchweb.statistics.comparison import adjusted_p_values, difference
from benchweb.statistics.rank_sum import critical_count, rank_sum_p_value

CASES = 1000
RESAMPLES = 999
# A share of 999 draws lies within 4.5 standard errors of its probability but for 7 times in a million.
ERRORS = 4.5


def cases() -> Iterator[tuple[list[float], list[float]]]:
    """Return pairs of samples of 3 to 12 values: normal, skewed, heavy-tailed and counts, equal and shifted."""
    draw = random.Random(20260)
    makers: list[Callable[[], float]] = [
        lambda: draw.gauss(100, 5),
        lambda: draw.lognormvariate(2, 0.5),
        lambda: 10 / draw.uniform(0.05, 1),
        lambda: float(draw.randint(0, 6)),
    ]
    for number in range(CASES):
        make = makers[number % len(makers)]
        shift = draw.choice([0, 0, 1, 3])
        here = [make() for _ in range(draw.randint(3, 12))]
        yield here, [make() + shift for _ in range(draw.randint(3, 12))]


@pytest.fixture(scope="module")
def samples() -> list[tuple[list[float], list[float]]]:
    return list(cases())


def test_p_values_and_effect_sizes_are_scipys(samples: list[tuple[list[float], list[float]]]) -> None:
    exact = tied = 0
    for here, there in samples:
        ours = difference(here, there)
        pooled = [*here, *there]
        if len(set(pooled)) == len(pooled):
            theirs = stats.mannwhitneyu(there, here, method="exact")
            assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
            assert ours.cliffs_delta == pytest.approx(2 * theirs.statistic / (len(here) * len(there)) - 1)
            exact += 1
        elif len(pooled) <= 10:
            theirs = stats.mannwhitneyu(there, here, method=stats.PermutationMethod(n_resamples=10**6))
            assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
            tied += 1
    assert exact > 700
    assert tied > 30


def test_of_many_values_the_approximation_is_scipys() -> None:
    draw = random.Random(3)
    for count in (34, 50, 80):
        here = [round(draw.gauss(0, 1), 1) for _ in range(count)]
        there = [round(draw.gauss(0.4, 1), 1) for _ in range(count)]
        theirs = stats.mannwhitneyu(here, there, method="asymptotic").pvalue
        assert rank_sum_p_value(here, there) == pytest.approx(theirs, rel=1e-9)


def test_the_interval_is_what_scipys_bootstrap_tends_to(samples: list[tuple[list[float], list[float]]]) -> None:
    """Their resamples must fall beyond our ends as often as chance allows a share of 2.5 %."""
    slack = ERRORS * (0.025 * 0.975 / RESAMPLES) ** 0.5
    generator = numpy.random.default_rng(7)
    for here, there in samples:
        low, high = median_difference_interval(here, there)
        theirs = stats.bootstrap(
            (there, here),
            lambda a, b, axis: numpy.median(a, axis=axis) - numpy.median(b, axis=axis),
            n_resamples=RESAMPLES,
            method="percentile",
            rng=generator,
        ).bootstrap_distribution
        hair = 1e-9 * (abs(low) + abs(high) + 1)
        assert (theirs < low - hair).mean() <= 0.025 + slack
        assert (theirs <= low + hair).mean() >= 0.025 - slack
        assert (theirs > high + hair).mean() <= 0.025 + slack
        assert (theirs >= high - hair).mean() >= 0.025 - slack


def test_adjusted_p_values_are_scipys(samples: list[tuple[list[float], list[float]]]) -> None:
    p_values = [rank_sum_p_value(here, there) for here, there in samples]
    for start in range(0, CASES, 40):
        family = p_values[start : start + 40]
        assert adjusted_p_values(family) == pytest.approx(list(stats.false_discovery_control(family)))


@pytest.mark.parametrize("counts", [(4, 4), (5, 5), (3, 9), (10, 10), (7, 20), (40, 40)])
def test_the_critical_count_is_the_last_that_scipy_calls_rare(counts: tuple[int, int]) -> None:
    found = critical_count(*counts, 0.05)

    def p_value(count: int) -> float:
        """Return scipy's p-value of samples without ties in which `count` pairs are in the wrong order."""
        whole, rest = divmod(count, counts[1])
        here = [counts[1] + 1.0 + place for place in range(counts[0] - whole - 1)]
        here += [counts[1] - rest + 0.5] + [-1.0 - place for place in range(whole)]
        method = "exact" if sum(counts) <= 66 else "asymptotic"
        return float(stats.mannwhitneyu(here, [float(place + 1) for place in range(counts[1])], method=method).pvalue)

    assert p_value(found) <= 0.05 < p_value(found + 1)
