"""Campaigns by REST."""

from datetime import timedelta
from itertools import permutations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.selectors import campaign_state
from tests.api.conftest import ApiClient, Refused
from tests.charts.simultaneous.scene import incast, measured
from tests.factories import make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db


def test_a_campaign_is_a_run_per_pair(api: ApiClient) -> None:
    plan, one, two = make_plan(), make_pair(), make_pair()
    answer = api.post("/campaigns", {"plan": plan.pk, "pairs": [two.pk, one.pk, two.pk]})
    assert answer.status_code == 201
    campaign = answer.json()
    assert (campaign["state"], campaign["plan"], campaign["plan_version"]) == ("pending", plan.pk, 1)
    assert (campaign["runs"]["pending"], sum(campaign["runs"].values())) == (2, 2)
    assert set(campaign["runs"]) == set(State.values)
    assert (campaign["makespan_seconds"], campaign["started_at"], campaign["finished_at"]) == (None, None, None)
    runs = api.get(f"/runs?campaign={campaign['id']}").json()["items"]
    assert sorted(run["pair"] for run in runs) == [one.pk, two.pk]
    assert all(run["url"] == f"http://testserver/runs/{run['id']}" for run in runs)
    assert api.get(f"/campaigns/{campaign['id']}").json() == campaign


def test_a_mesh_launches_every_ordered_pair(api: ApiClient) -> None:
    endpoints = [make_endpoint().pk for _ in range(3)]
    answer = api.post("/campaigns", {"plan": make_plan().pk, "mesh": {"endpoints": endpoints}})
    assert (answer.status_code, answer.json()["runs"]["pending"]) == (201, 6)
    ends = {(run.pair.source_id, run.pair.sink_id) for run in Run.objects.select_related("pair")}
    assert ends == set(permutations(endpoints, 2))


def test_more_than_a_thousand_runs_need_the_number(api: ApiClient, refused: Refused) -> None:
    chosen = {"plan": make_plan().pk, "mesh": {"endpoints": [make_endpoint().pk for _ in range(33)]}}
    assert "1,056" in refused(api.post("/campaigns", chosen), 422, "confirm_runs")
    assert (Campaign.objects.count(), Pair.objects.count()) == (0, 0)
    answer = api.post("/campaigns", chosen | {"confirm_runs": 1056})
    assert (answer.status_code, answer.json()["runs"]["pending"]) == (201, 1056)


def test_the_makespan_is_from_the_first_start_to_the_last_end(api: ApiClient) -> None:
    plan, pairs = make_plan(), [make_pair(), make_pair(), make_pair()]
    campaign = api.post("/campaigns", {"plan": plan.pk, "pairs": [pair.pk for pair in pairs]}).json()["id"]
    start = timezone.now() - timedelta(seconds=100)
    spans = zip(Run.objects.order_by("pk"), ((0, 10), (5, 42.5)), strict=False)
    for run, (begin, end) in spans:
        times = {"started_at": start + timedelta(seconds=begin), "finished_at": start + timedelta(seconds=end)}
        Run.objects.filter(pk=run.pk).update(state=State.FINISHED, **times)
    still_open = api.get(f"/campaigns/{campaign}").json()
    assert (still_open["state"], still_open["finished_at"]) == ("running", None)
    assert 100 <= still_open["makespan_seconds"] < 160
    # Cancelled while it waited, after the others were over: no part of what the campaign took.
    Run.objects.filter(state=State.PENDING).update(state=State.NONSTART, finished_at=start - timedelta(seconds=1))
    over = api.get(f"/campaigns/{campaign}").json()
    assert over["makespan_seconds"] == 42.5
    assert (over["runs"]["finished"], over["runs"]["nonstart"], over["state"]) == (2, 1, "nonstart")


def test_the_one_who_launched_is_kept(api: ApiClient, user: User) -> None:
    api.post("/campaigns", {"plan": make_plan().pk, "pairs": [make_pair().pk]})
    assert Campaign.objects.get().created_by == user


def test_cancelling_a_campaign_cancels_its_open_runs(api: ApiClient) -> None:
    plan, pairs = make_plan(), [make_pair(), make_pair()]
    campaign = api.post("/campaigns", {"plan": plan.pk, "pairs": [pair.pk for pair in pairs]}).json()
    Run.objects.filter(pair=pairs[0]).update(state=State.FINISHED)
    answer = api.post(f"/campaigns/{campaign['id']}/cancel")
    assert answer.status_code == 202
    assert (answer.json()["runs"]["finished"], answer.json()["runs"]["cancelled"]) == (1, 1)
    assert answer.json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("pairs", "field"),
    [
        ([], "pairs"),
        ([999999], "pairs"),
        (["x"], "pairs.0"),
        ([2**63], "pairs.0"),
        (1, "pairs"),
        ([1] * 40_001, "pairs"),
    ],
)
def test_pairs_that_cannot_be_are_refused_and_nothing_is_launched(
    api: ApiClient, refused: Refused, pairs: object, field: str
) -> None:
    refused(api.post("/campaigns", {"plan": make_plan().pk, "pairs": pairs}), 422, field)
    assert (Campaign.objects.count(), Run.objects.count()) == (0, 0)


def test_one_archived_pair_of_two_stops_the_whole_launch(api: ApiClient, refused: Refused) -> None:
    good, archived = make_pair(), make_pair()
    api.delete(f"/pairs/{archived.pk}")
    refused(api.post("/campaigns", {"plan": make_plan().pk, "pairs": [good.pk, archived.pk]}), 422, "pairs")
    assert (Campaign.objects.count(), Run.objects.count()) == (0, 0)


def test_campaigns_are_listed_newest_first_with_three_queries(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    runs = [make_run() for _ in range(4)]
    with django_assert_num_queries(6):
        # The token's first use is noted, in its row and in the audit log: three more than ever after.
        api.get("/campaigns")
    with django_assert_num_queries(3):
        items = api.get("/campaigns").json()["items"]
    assert [item["id"] for item in items] == [run.campaign_id for run in reversed(runs)]
    plan = runs[0].plan_version.plan_id
    assert [item["id"] for item in api.get(f"/campaigns?plan={plan}").json()["items"]] == [runs[0].campaign_id]


def test_a_campaign_that_is_not_there_is_404(api: ApiClient, refused: Refused) -> None:
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
def test_a_campaigns_state_follows_from_its_runs(states: list[str], state: str) -> None:
    assert campaign_state(states) == state


def test_sources_together_are_launched_and_told_as_one_result(api: ApiClient, refused: Refused) -> None:
    sink, plan = make_endpoint(), make_plan()
    pairs = [make_pair(sink=sink).pk for _ in range(3)]
    chosen = {"plan": plan.pk, "arrangement": "together"}
    answer = api.post("/campaigns", chosen | {"pairs": pairs})
    assert (answer.status_code, answer.json()["arrangement"]) == (201, "together")
    elsewhere = api.post("/campaigns", chosen | {"pairs": [pairs[0], make_pair().pk]})
    assert "have one sink" in refused(elsewhere, 422, "pairs")
    campaign = incast([4e9, 2e9, 2e9], repetitions=2)
    measured(campaign, [4e9, 2e9, 2e9], late=0.01)
    measured(campaign, [4e9, None, 2e9], index=2)
    first = api.get(f"/campaigns/{campaign.pk}/together?limit=1").json()
    (whole,) = first["items"]
    assert (whole["total"], whole["metric"], whole["window_held"]) == (pytest.approx(8e9), "throughput_bps", True)
    assert whole["fairness"] == pytest.approx(8**2 / (3 * (16 + 4 + 4)))
    assert (whole["sum_per_counted"], whole["counters_agree"]) == (pytest.approx(1), True)
    assert whole["sink_counted"]["payload_bps"] == pytest.approx(8e9)
    assert [each["share_ratio"] for each in whole["sources"]] == pytest.approx([0.5, 0.25, 0.25])
    (partial,) = api.get(f"/campaigns/{campaign.pk}/together?limit=1&cursor={first['next']}").json()["items"]
    assert (partial["total"], partial["sum"]) == (None, pytest.approx(6e9))
    assert partial["sources"][1] | {"run": 0} == {
        "run": 0,
        "state": "failed",
        "value": None,
        "share_ratio": None,
        "reason": "its engine is gone",
    }
    other = api.post("/campaigns", {"plan": plan.pk, "pairs": pairs}).json()
    assert api.get(f"/campaigns/{other['id']}/together").json() == {"items": [], "next": None}
