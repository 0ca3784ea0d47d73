"""Launching: what is made, and every refusal."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.services import archive
from benchweb.plans.expansion import expanded
from benchweb.plans.services import plan_archive, plan_update
from benchweb.runs.models import Campaign, Reservation, Run, State, Trial
from benchweb.runs.services import LaunchError, confirmation_needed, launch
from tests.factories import ONE_TRIAL, SIZES, make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db


def test_the_contracts_plan_makes_twelve_trials_with_one_value_each() -> None:
    run = make_run(steps=SIZES, repetitions=3)
    trials = list(run.trials.all())
    assert [trial.index for trial in trials] == list(range(1, 13))
    assert [trial.params.get("message_size_bytes") for trial in trials[:4]] == [64, 1024, 16384, None]
    assert len({trial.cookie for trial in trials}) == len({trial.session for trial in trials}) == 12


def test_a_pair_given_twice_runs_once() -> None:
    pair = make_pair()
    campaign = launch(plan=make_plan(), pairs=[pair, pair], user=None)
    assert campaign.runs.count() == 1


def test_a_run_keeps_the_version_it_was_launched_with() -> None:
    plan = make_plan()
    run = launch(plan=plan, pairs=[make_pair()], user=None).runs.get()
    plan_update(plan=plan, name="sizes", steps=SIZES, repetitions=2, order="shuffled")
    run.refresh_from_db()
    assert (run.plan_version.number, run.trials.count()) == (1, 1)
    assert launch(plan=plan, pairs=[make_pair()], user=None).runs.get().plan_version.number == 2


def test_saving_a_plan_unchanged_makes_no_version() -> None:
    plan = make_plan()
    plan_update(plan=plan, name="renamed", steps=ONE_TRIAL, repetitions=1, order="interleaved")
    assert plan.versions.count() == 1


@pytest.mark.parametrize("part", ["pair", "source", "sink", "source_host", "environment"])
def test_an_archived_part_refuses_the_launch_by_name_and_writes_nothing(part: str) -> None:
    pair = make_pair()
    rows: dict[str, Host | Endpoint | Environment | Pair] = {
        "pair": pair,
        "source": pair.source,
        "sink": pair.sink,
        "source_host": pair.source.host,
        "environment": pair.environment,
    }
    archive(row=rows[part])
    pair.refresh_from_db()
    with pytest.raises(LaunchError) as caught:
        launch(plan=make_plan(), pairs=[type(pair).objects.get(pk=pair.pk)], user=None)
    assert caught.value.field == "pairs" and "archived" in caught.value.message
    assert (Campaign.objects.count(), Run.objects.count(), Trial.objects.count()) == (0, 0, 0)


def test_an_archived_plan_and_an_empty_choice_are_refused() -> None:
    plan = make_plan()
    with pytest.raises(LaunchError, match="at least one pair"):
        launch(plan=plan, pairs=[], user=None)
    plan_archive(plan=plan)
    plan.refresh_from_db()
    with pytest.raises(LaunchError, match="archived") as caught:
        launch(plan=plan, pairs=[make_pair()], user=None)
    assert caught.value.field == "plan"


def test_thousands_of_runs_are_written_with_a_fixed_number_of_queries() -> None:
    ends = [make_endpoint() for _ in range(12)]
    pairs = [make_pair(source=a, sink=b) for a in ends for b in ends if a is not b]
    plan = make_plan(steps=SIZES, repetitions=3)
    launch(plan=plan, pairs=pairs[:1], user=None)
    counts = []
    for chosen in (pairs[:10], pairs):
        with CaptureQueriesContext(connection) as captured:
            campaign = launch(plan=plan, pairs=chosen, user=None)
        counts.append(len(captured))
        assert campaign.runs.count() == len(chosen)
        assert Trial.objects.filter(run__campaign=campaign).count() == len(chosen) * 12
        assert Reservation.objects.filter(run__campaign=campaign, during=None).count() == len(chosen) * 2
    # The second makes the resources of hosts that no run has wanted yet.
    assert counts[1] - counts[0] in (0, 2)


def test_copied_rows_are_what_the_models_would_have_written() -> None:
    run = make_run(steps=SIZES, repetitions=2)
    assert (run.state, run.attempts, run.lease_owner, run.waiting_for, run.reason) == (State.PENDING, 0, "", "", "")
    first = run.trials.all()[0]
    assert (first.state, first.reason, first.started_at) == (State.PENDING, "", None)
    assert first.params == {"message_size_bytes": 64, "duration_seconds": 1}
    assert len(first.cookie) == 64
    assert set(run.reservations.values_list("exclusive", "during", "planned_at")) == {(1, None, run.planned_at)}


def test_a_shuffle_differs_from_run_to_run_and_can_be_repeated() -> None:
    plan = make_plan(steps=SIZES, repetitions=5, order="shuffled")
    campaign = launch(plan=plan, pairs=[make_pair(), make_pair()], user=None)
    orders = [
        [(trial.kind, trial.params, trial.repetition) for trial in run.trials.all()] for run in campaign.runs.all()
    ]
    assert orders[0] != orders[1]
    for run, order in zip(campaign.runs.all(), orders, strict=True):
        again = expanded(SIZES, 5, "shuffled", seed=run.pk)
        assert [(trial.kind, trial.params, trial.repetition) for trial in again] == order


def test_a_launch_keeps_how_often_and_until_when_its_runs_are_tried() -> None:
    closes = timezone.now() + timedelta(hours=4)
    campaign = launch(
        plan=make_plan(), pairs=[make_pair()], user=None, start_before=closes, retries=2, retry_pause_seconds=30
    )
    campaign.refresh_from_db()
    assert (campaign.start_before, campaign.retries, campaign.retry_pause_seconds) == (closes, 2, 30)


@pytest.mark.parametrize(
    ("count", "confirmed", "asks"),
    [(1_000, None, False), (1_001, None, True), (1_001, 1_000, True), (1_001, 1_001, False), (1_001, 2_000, False)],
)
def test_more_than_a_thousand_runs_ask_first_and_name_the_number(count: int, confirmed: int | None, asks: bool) -> None:
    question = confirmation_needed(count, confirmed)
    assert (question is not None) == asks
    assert question is None or question.startswith("This makes 1,001 runs")
