"""Campaigns by REST."""

import pytest

from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.selectors import campaign_state
from tests.factories import make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db


def test_a_campaign_is_a_run_per_pair(api):
    plan, one, two = make_plan(), make_pair(), make_pair()
    answer = api.post("/campaigns", {"plan": plan.pk, "pairs": [two.pk, one.pk, two.pk]})
    assert answer.status_code == 201
    campaign = answer.json()
    assert (campaign["state"], campaign["plan"], campaign["plan_version"]) == ("pending", plan.pk, 1)
    assert sorted(run["pair"] for run in campaign["runs"]) == [one.pk, two.pk]
    assert all(run["url"] == f"http://testserver/runs/{run['id']}" for run in campaign["runs"])
    assert api.get(f"/campaigns/{campaign['id']}").json() == campaign


def test_the_one_who_launched_is_kept(api, user):
    api.post("/campaigns", {"plan": make_plan().pk, "pairs": [make_pair().pk]})
    assert Campaign.objects.get().created_by == user


def test_cancelling_a_campaign_cancels_its_open_runs(api):
    plan, pairs = make_plan(), [make_pair(), make_pair()]
    campaign = api.post("/campaigns", {"plan": plan.pk, "pairs": [pair.pk for pair in pairs]}).json()
    first = campaign["runs"][0]["id"]
    Run.objects.filter(pk=first).update(state=State.FINISHED)
    answer = api.post(f"/campaigns/{campaign['id']}/cancel")
    assert answer.status_code == 202
    assert [run["state"] for run in answer.json()["runs"]] == ["finished", "cancelled"]
    assert answer.json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("pairs", "field"),
    [
        ([], "pairs"),
        ([999999], "pairs.0"),
        (["x"], "pairs.0"),
        ([2**63], "pairs.0"),
        (1, "pairs"),
        ([1] * 50_001, "pairs"),
        (list(range(1, 1002)), "confirm_runs"),
    ],
)
def test_pairs_that_cannot_be_are_refused_and_nothing_is_launched(api, refused, pairs, field):
    refused(api.post("/campaigns", {"plan": make_plan().pk, "pairs": pairs}), 422, field)
    assert (Campaign.objects.count(), Run.objects.count()) == (0, 0)


def test_one_archived_pair_of_two_stops_the_whole_launch(api, refused):
    good, archived = make_pair(), make_pair()
    api.delete(f"/pairs/{archived.pk}")
    refused(api.post("/campaigns", {"plan": make_plan().pk, "pairs": [good.pk, archived.pk]}), 422, "pairs")
    assert (Campaign.objects.count(), Run.objects.count()) == (0, 0)


def test_campaigns_are_listed_newest_first_with_three_queries(api, django_assert_num_queries):
    runs = [make_run() for _ in range(4)]
    with django_assert_num_queries(4):
        # The token's first use is noted: one more than ever after.
        api.get("/campaigns")
    with django_assert_num_queries(3):
        items = api.get("/campaigns").json()["items"]
    assert [item["id"] for item in items] == [run.campaign_id for run in reversed(runs)]
    plan = runs[0].plan_version.plan_id
    assert [item["id"] for item in api.get(f"/campaigns?plan={plan}").json()["items"]] == [runs[0].campaign_id]


def test_a_campaign_that_is_not_there_is_404(api, refused):
    refused(api.get("/campaigns/999999"), 404)
    refused(api.post("/campaigns/999999/cancel"), 404)


@pytest.mark.parametrize(
    ("states", "state"),
    [
        (["pending", "pending"], "pending"),
        (["pending", "finished"], "running"),
        (["running", "failed"], "running"),
        (["finished", "finished"], "finished"),
        (["finished", "cancelled"], "cancelled"),
        (["finished", "cancelled", "failed"], "failed"),
    ],
)
def test_a_campaigns_state_follows_from_its_runs(states, state):
    assert campaign_state(states) == state
