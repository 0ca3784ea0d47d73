"""What is measured beside a series takes its own swings out of it, and nothing else."""

import random
from math import sqrt

import pytest

from benchweb.statistics.changes import explained_series, find_changes, find_changes_beside
from tests.statistics.changes.noisy import noisy, stepped

WEEKENDS = [0.96 if index % 7 > 4 else 1.0 for index in range(60)]


def beside(seed: int, *, step: float = 1.0, noise: float = 0.005) -> list[float | None]:
    """Return a covariate that has the weekends, noise of its own, and a step from the 46th value on."""
    draw = random.Random(f"beside {seed}")
    return [
        7.0 * factor * (step if index >= 46 else 1.0) * (1 + draw.gauss(0, noise))
        for index, factor in enumerate(WEEKENDS)
    ]


def weekends(seed: int, *, step: float = 1.0) -> list[float]:
    """Return a series with the weekends, noise of 1 %, and a step from the 46th value on."""
    return noisy([1000 * factor * (step if index >= 46 else 1.0) for index, factor in enumerate(WEEKENDS)], seed)


def test_a_step_among_weekends_is_found_soon_beside_what_shares_them() -> None:
    alone, found = [], []
    for seed in range(10):
        values = weekends(seed, step=0.95)[:53]
        alone += find_changes(values)
        found += find_changes_beside(values, explained_series(values, [beside(seed)[:53]]), [beside(seed)[:53]])
    assert (len(alone), len(found)) == (0, 10)
    assert all(abs(change.index - 46) <= 1 and change.moved_with is None for change in found)
    assert all(change.difference_ratio == pytest.approx(-0.05, abs=0.015) for change in found)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_of_both_is_found_and_moved_with_the_covariate(seed: int) -> None:
    values = weekends(seed, step=0.88)
    unrelated = [value and value**0 + random.Random(index).gauss(0, 0.005) for index, value in enumerate(beside(seed))]
    covariates = [unrelated, beside(seed, step=0.88)]
    [found] = find_changes_beside(values, explained_series(values, covariates), covariates)
    assert abs(found.index - 46) <= 2
    assert found.moved_with == 1


@pytest.mark.parametrize("seed", range(20))
def test_noise_explains_nothing(seed: int) -> None:
    draw = random.Random(f"noise {seed}")
    assert explained_series(weekends(seed), [[1 + draw.gauss(0, 0.02) for _ in range(60)]]) is None


def test_what_falls_while_the_covariate_rises_is_not_explained() -> None:
    values = weekends(1)
    assert explained_series(values, [[1 / value if value else None for value in beside(1)]]) is None


def test_of_few_values_nothing_is_explained() -> None:
    values = weekends(1)
    few = [value if index < 19 else None for index, value in enumerate(beside(1))]
    assert explained_series(values, [few]) is None


def test_a_value_is_missing_where_its_covariate_is_or_lies_far_from_all_it_was() -> None:
    covariate = beside(1)
    covariate[10], covariate[20] = None, 14.0
    explained = explained_series(weekends(1), [covariate])
    assert explained is not None
    assert [index for index, value in enumerate(explained.values) if value is None] == [10, 20]


@pytest.mark.parametrize("step", [0.8, 1.25])
@pytest.mark.parametrize("seed", range(5))
def test_a_covariate_that_changes_alone_changes_nothing(seed: int, step: float) -> None:
    values = weekends(seed)
    for count in range(40, 61):
        covariate = beside(seed, step=step)[:count]
        explained = explained_series(values[:count], [covariate])
        assert find_changes_beside(values[:count], explained, [covariate]) == []


def swinging(seed: int, *, step: float = 1.0) -> tuple[list[float], list[float]]:
    """Return a series and its covariate that swing for days at a time, and step both from the 51st value on."""
    draw, own, state = random.Random(f"swings {seed}"), random.Random(f"own {seed}"), 0.0
    values, covariate = [], []
    state = draw.gauss(0, 0.0107)
    for index in range(60):
        state = 0.7 * state + draw.gauss(0, 0.0107 * sqrt(1 - 0.7**2))
        speed = (1 + state) * (step if index >= 50 else 1.0)
        values.append(1000 * speed)
        covariate.append(7 * speed * (1 + own.gauss(0, 0.003)))
    return values, covariate


@pytest.mark.parametrize(("seed", "count"), [(141, 30), (161, 38), (192, 40), (219, 34)])
def test_what_moved_no_further_with_the_covariate_than_that_swings_all_the_time_is_no_change(
    seed: int, count: int
) -> None:
    values, covariate = (all_of[:count] for all_of in swinging(seed))
    explained = explained_series(values, [covariate])
    assert find_changes(values)
    assert find_changes_beside(values, explained, [covariate]) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_step_far_beyond_the_swings_is_the_covariates(seed: int) -> None:
    values, covariate = swinging(seed, step=0.9)
    [found] = find_changes_beside(values, explained_series(values, [covariate]), [covariate])
    assert (abs(found.index - 50) <= 1, found.moved_with) == (True, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_since_which_its_covariate_is_not_measured_is_not_explained_away(seed: int) -> None:
    values = weekends(seed, step=0.9)
    covariate = [value if index < 46 else None for index, value in enumerate(beside(seed))]
    explained = explained_series(values, [covariate])
    assert explained is not None
    own = find_changes(values)
    assert own
    assert find_changes_beside(values, explained, [covariate]) == own


@pytest.mark.parametrize("seed", range(5))
def test_a_step_of_both_moved_with_the_covariate_though_nothing_else_is_shared(seed: int) -> None:
    values, draw = stepped(60, 46, -0.12, seed), random.Random(f"quiet {seed}")
    steps = [(0.9 if index >= 46 else 1.0) * (1 + draw.gauss(0, 0.005)) for index in range(60)]
    [found] = find_changes_beside(values, explained_series(values, [steps]), [steps])
    assert (found.index, found.moved_with) == (46, 0)
    elsewhere = steps[20:] + steps[:20]
    [found] = find_changes_beside(values, explained_series(values, [elsewhere]), [elsewhere])
    assert (found.index, found.moved_with) == (46, None)
