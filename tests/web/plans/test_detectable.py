"""A plan's page tells how small a change its series can show, and what more repetitions would do."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.regressions.detectable import detectable_changes
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run
from tests.factories import make_pair, make_plan
from tests.nights import DAY, NIGHT, add_values, measured

SHIFTS = (0.0, 0.02, -0.015, 0.01, -0.025, 0.005, 0.015, -0.01, 0.025, -0.005, -0.02, 0.0125)
LEVEL = 1e9


@pytest.fixture
def pair(db: None) -> Pair:
    return make_pair()


def nights(pair: Pair, count: int, *, within: float, between: float = 1.0, series: int = 1) -> int:
    """Measure nights of three repetitions that lie `within` of their median; return the plan."""
    plan = None
    for number in range(count):
        at, middle = NIGHT + number * DAY, LEVEL * (1 + SHIFTS[number % len(SHIFTS)] * between)
        values = [middle * (1 - within), middle, middle * (1 + within)]
        run = measured(pair, at, *values)
        for size in range(1, series):
            add_values(run, pair, at, *values, identity={"message_size_bytes": 2**size})
        if plan is None:
            plan = run.plan_version.plan
        Run.objects.filter(pk=run.pk).update(plan_version=plan.versions.get())
    write_figures()
    assert plan is not None
    return plan.pk


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_under_twelve_runs_a_series_is_learning(signed_in: Client, pair: Pair) -> None:
    plan = nights(pair, 9, within=0.01)
    text = words(signed_in.get(f"/plans/{plan}/detectable").content.decode())
    assert "learning n=9 runs" in text
    assert "3 runs until it is known" in text
    [found], total = detectable_changes(plan, 20)
    assert (found.ratio, found.repetitions, total) == (None, 3, 1)


def test_noise_within_runs_is_halved_by_repetitions_and_noise_between_them_is_not(
    signed_in: Client, pair: Pair
) -> None:
    plan = nights(pair, 24, within=0.03)
    [found], _total = detectable_changes(plan, 20)
    assert found.ratio is not None
    assert found.repetitions_to_halve is not None
    assert 0.02 < found.ratio < 0.1
    assert found.repetitions_to_halve > 3
    text = words(signed_in.get(f"/plans/{plan}/detectable").content.decode())
    assert f"{found.ratio * 100:.1f} % n=24 runs 3 {found.repetitions_to_halve:,}" in text
    other = nights(make_pair(), 24, within=0.0001)
    assert detectable_changes(other, 20)[0][0].repetitions_to_halve is None
    assert "runs differ from each other" in words(signed_in.get(f"/plans/{other}/detectable").content.decode()).replace(
        "&#x27;", "'"
    )


def test_a_quiet_series_needs_no_more_repetitions(signed_in: Client, pair: Pair) -> None:
    plan = nights(pair, 24, within=0.0001, between=0.001)
    assert "2.0 % n=24 runs 3 — none needed" in words(signed_in.get(f"/plans/{plan}/detectable").content.decode())


def test_only_twenty_series_are_listed(
    signed_in: Client, pair: Pair, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    plan = nights(pair, 2, within=0.01, series=23)
    with django_assert_max_num_queries(12):
        text = words(signed_in.get(f"/plans/{plan}/detectable").content.decode())
    assert text.count("10 runs until it is known") == 20
    assert "3 more series are not listed." in text


def test_without_runs_it_says_from_when_on(signed_in: Client) -> None:
    assert (
        "Known once a series of this plan has twelve runs."
        in signed_in.get(f"/plans/{make_plan().pk}/detectable").content.decode()
    )
