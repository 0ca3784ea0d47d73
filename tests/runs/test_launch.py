"""Launching: what is made, and every refusal."""

import pytest

from benchweb.hosts.services import archive
from benchweb.plans.services import plan_archive, plan_update
from benchweb.runs.models import Campaign, Run, Trial
from benchweb.runs.services import LaunchError, launch
from tests.factories import ONE_TRIAL, SIZES, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db


def test_the_contracts_plan_makes_twelve_trials_with_one_value_each():
    run = make_run(steps=SIZES, repetitions=3)
    trials = list(run.trials.all())
    assert [trial.index for trial in trials] == list(range(1, 13))
    assert [trial.params.get("message_size_bytes") for trial in trials[:4]] == [64, 1024, 16384, None]
    assert len({trial.cookie for trial in trials}) == len({trial.session for trial in trials}) == 12


def test_a_pair_given_twice_runs_once():
    pair = make_pair()
    campaign = launch(plan=make_plan(), pairs=[pair, pair], user=None)
    assert campaign.runs.count() == 1


def test_a_run_keeps_the_version_it_was_launched_with():
    plan = make_plan()
    run = launch(plan=plan, pairs=[make_pair()], user=None).runs.get()
    plan_update(plan=plan, name="sizes", steps=SIZES, repetitions=2, order="shuffled")
    run.refresh_from_db()
    assert (run.plan_version.number, run.trials.count()) == (1, 1)
    assert launch(plan=plan, pairs=[make_pair()], user=None).runs.get().plan_version.number == 2


def test_saving_a_plan_unchanged_makes_no_version():
    plan = make_plan()
    plan_update(plan=plan, name="renamed", steps=ONE_TRIAL, repetitions=1, order="interleaved")
    assert plan.versions.count() == 1


@pytest.mark.parametrize("part", ["pair", "source", "sink", "source_host", "environment"])
def test_an_archived_part_refuses_the_launch_by_name_and_writes_nothing(part):
    pair = make_pair()
    rows = {
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


def test_an_archived_plan_and_an_empty_choice_are_refused():
    plan = make_plan()
    with pytest.raises(LaunchError, match="at least one pair"):
        launch(plan=plan, pairs=[], user=None)
    plan_archive(plan=plan)
    plan.refresh_from_db()
    with pytest.raises(LaunchError, match="archived") as caught:
        launch(plan=plan, pairs=[make_pair()], user=None)
    assert caught.value.field == "plan"
