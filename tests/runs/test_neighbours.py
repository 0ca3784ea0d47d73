"""Runs that another is worth comparing with."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs.lists import RunLine
from benchweb.runs.models import Run, State, Trial
from benchweb.runs.selectors import neighbours
from benchweb.runs.services import launch
from tests.factories import make_pair, make_plan

pytestmark = pytest.mark.django_db


def launched(plan: Plan, *pairs: Pair, days_ago: float = 0, state: str = State.FINISHED) -> list[Run]:
    campaign = launch(plan=plan, pairs=list(pairs), user=None)
    runs = list(campaign.runs.order_by("pk"))
    campaign.runs.update(state=state, created_at=timezone.now() - timedelta(days=days_ago))
    for run in runs:
        Trial.objects.filter(run=run, index=1).update(state=state)
        run.refresh_from_db()
    return runs


def _ids(lines: Sequence[RunLine | None]) -> list[int]:
    return [line.pk for line in lines if line is not None]


def test_the_latest_before_it_and_last_night_and_last_week_are_found_once_each() -> None:
    plan, pair = make_plan(), make_pair()
    (week,), (night,) = launched(plan, pair, days_ago=7.1), launched(plan, pair, days_ago=1)
    today = [launched(plan, pair)[0] for _ in range(3)]
    (run,) = launched(plan, pair)
    found = neighbours(run)
    assert _ids(found.earlier) == [run.pk for run in today[::-1]]
    assert _ids([found.night_before, found.week_before]) == [night.pk, week.pk]
    of_first = neighbours(today[0])
    assert _ids(of_first.earlier) == [night.pk, week.pk]
    assert (of_first.night_before, of_first.week_before) == (None, None)


def test_open_runs_other_plans_and_other_pairs_are_not_before_it() -> None:
    plan, pair = make_plan(), make_pair()
    launched(plan, pair, state=State.RUNNING)
    launched(make_plan(), pair)
    launched(plan, make_pair())
    (run,) = launched(plan, pair)
    found = neighbours(run)
    assert (found.earlier, found.night_before, found.week_before, found.elsewhere) == ([], None, None, [])


def test_a_run_without_a_trial_that_gave_something_is_not_before_it() -> None:
    plan, pair = make_plan(), make_pair()
    (whole,) = launched(plan, pair)
    launched(plan, pair, state=State.CANCELLED)
    (run,) = launched(plan, pair)
    assert _ids(neighbours(run).earlier) == [whole.pk]


def test_runs_launched_together_are_found_on_other_pairs() -> None:
    runs = launched(make_plan(), make_pair(), make_pair(), make_pair())
    assert _ids(neighbours(runs[1]).elsewhere) == [runs[0].pk, runs[2].pk]


def test_it_costs_four_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    (run,) = launched(make_plan(), make_pair())
    run = Run.objects.select_related("plan_version").get(pk=run.pk)
    with django_assert_num_queries(4):
        neighbours(run)
