"""A campaign's page: progress, why each run waits, cancel."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.services import launch
from benchweb.schedules.models import Slot
from tests.factories import make_pair, make_plan, make_schedule, make_user


@pytest.fixture
def campaign(db: None) -> Campaign:
    return launch(plan=make_plan(), pairs=[make_pair() for _ in range(4)], user=None)


def test_it_counts_runs_by_state_and_filters_by_them(signed_in: Client, campaign: Campaign) -> None:
    first = Run.objects.order_by("pk")[0]
    Run.objects.filter(pk=first.pk).update(state=State.FAILED, reason="1 of 1 trials failed")
    response = signed_in.get(f"/campaigns/{campaign.pk}")
    assert [(each["state"], each["count"]) for each in response.context["segments"]] == [("failed", 1), ("pending", 3)]
    assert "0 of 1 run complete, 3 queued or running." in response.content.decode()
    failed = signed_in.get(f"/campaigns/{campaign.pk}?state=failed")
    assert [run.pk for run in failed.context["page"].rows] == [first.pk]
    assert "1 of 1 trials failed" in failed.content.decode()
    assert (
        "No run of this campaign is missed." in signed_in.get(f"/campaigns/{campaign.pk}?state=missed").content.decode()
    )


def test_it_says_why_each_run_waits(signed_in: Client, campaign: Campaign) -> None:
    waiting = Run.objects.order_by("pk")[1]
    Run.objects.filter(pk=waiting.pk).update(waiting_for="waiting for host b: run 812 until 02:14")
    assert "waiting for host b: run 812 until 02:14" in signed_in.get(f"/campaigns/{campaign.pk}").content.decode()


def test_it_asks_for_news_while_it_is_open_and_rests_when_it_is_over(signed_in: Client, campaign: Campaign) -> None:
    assert 'hx-trigger="every 3s"' in signed_in.get(f"/campaigns/{campaign.pk}").content.decode()
    begin = timezone.now() - timedelta(seconds=90)
    Run.objects.update(state=State.FINISHED, started_at=begin, finished_at=begin + timedelta(seconds=63))
    Campaign.objects.update(lower_bound_seconds=60)
    response = signed_in.get(f"/campaigns/{campaign.pk}", headers={"HX-Request": "true"})
    text = response.content.decode()
    assert "hx-trigger" not in text
    assert "<html" not in text
    assert "1 min 3 s" in text
    assert "1.05 ×" in text
    assert "Minimum duration" in text
    Campaign.objects.update(lower_bound_seconds=64)
    assert "Minimum duration" not in signed_in.get(f"/campaigns/{campaign.pk}").content.decode()


def test_cancel_asks_first_and_cancels_what_is_open(signed_in: Client, campaign: Campaign) -> None:
    assert "Cancel campaign" in signed_in.get(f"/campaigns/{campaign.pk}").content.decode()
    first = Run.objects.order_by("pk")[0]
    Run.objects.filter(pk=first.pk).update(state=State.FINISHED)
    answer = signed_in.post(f"/campaigns/{campaign.pk}/cancel", follow=True)
    assert "3 runs cancelled" in answer.content.decode()
    assert sorted(Run.objects.values_list("state", flat=True)) == ["cancelled"] * 3 + ["finished"]
    again = signed_in.post(f"/campaigns/{campaign.pk}/cancel", follow=True)
    assert "Nothing to cancel" in again.content.decode()


def test_the_list_shows_how_far_each_is_the_newest_first(signed_in: Client, campaign: Campaign) -> None:
    later = launch(plan=make_plan(), pairs=[make_pair()], user=None)
    Run.objects.filter(campaign=later).update(state=State.FINISHED)
    rows = signed_in.get("/campaigns").context["rows"]
    told = [(row.pk, summary.state, summary.runs, summary.total) for row, summary, _ in rows]
    assert told == [(later.pk, "finished", 1, 1), (campaign.pk, "pending", 0, 4)]


def test_a_campaign_of_which_some_runs_finished_is_called_by_the_worst_in_part(
    signed_in: Client, campaign: Campaign
) -> None:
    first, *others = Run.objects.order_by("pk")
    Run.objects.filter(pk=first.pk).update(state=State.NONSTART)
    Run.objects.filter(pk__in=[run.pk for run in others]).update(state=State.FINISHED)
    in_part = '>not started</span> <span class="meta">(partial)</span>'
    assert all(in_part in signed_in.get(url).content.decode() for url in ("/campaigns", f"/campaigns/{campaign.pk}"))
    Run.objects.update(state=State.NONSTART)
    assert "(partial)" not in signed_in.get("/campaigns").content.decode()


def test_the_list_names_who_or_what_launched_each(signed_in: Client, campaign: Campaign) -> None:
    by_hand = launch(plan=make_plan(name="nightly <b>"), pairs=[make_pair()], user=make_user("grace", "a-password"))
    schedule = make_schedule(name="each night")
    now = timezone.now()
    Slot.objects.create(schedule=schedule, at=now, campaign=campaign, state=State.PENDING, claimed_at=now)
    page = signed_in.get("/campaigns").content.decode()
    assert "nightly &lt;b&gt;" in page
    assert "by grace" in page
    assert f'by <a href="/schedules/{schedule.pk}">each night</a>' in page
    assert len(signed_in.get(f"/campaigns?after={by_hand.pk}").context["rows"]) == 1


def test_an_empty_list_names_the_next_step(signed_in: Client) -> None:
    assert "Next step: add a host." in signed_in.get("/campaigns").content.decode()
