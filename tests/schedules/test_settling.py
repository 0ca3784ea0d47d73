"""What became of slots, and how often schedules succeed."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from benchweb.runs.models import Run
from benchweb.runs.services import campaign_cancel
from benchweb.schedules.models import Slot
from benchweb.schedules.selectors import SuccessRate, next_slots, slots_between, success_rates, times_between
from benchweb.schedules.services import claim_due, settle_slots
from tests.factories import make_pair, make_schedule

pytestmark = pytest.mark.django_db

START = datetime(2040, 1, 1, 2, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def slot() -> Slot:
    """Return a slot of two pending runs."""
    make_schedule(every="PT1H", starts_at=START, target={"pairs": [make_pair().pk, make_pair().pk]})
    claim_due(START)
    return Slot.objects.get()


def ended(slot: Slot, *states: str, reason: str = "") -> None:
    assert slot.campaign is not None
    for run, state in zip(slot.campaign.runs.order_by("pk"), states, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state, reason="" if state == "finished" else reason)


def settled(slot: Slot) -> tuple[str, str]:
    settle_slots()
    slot.refresh_from_db()
    return slot.state, slot.reason


def test_a_slot_follows_its_runs_forward(slot: Slot) -> None:
    assert settled(slot) == ("pending", "")
    ended(slot, "running", "pending")
    assert settled(slot) == ("running", "")
    ended(slot, "finished", "pending")
    assert settled(slot) == ("running", "")
    ended(slot, "finished", "finished")
    assert settled(slot) == ("finished", "")


def test_a_slot_says_how_many_runs_failed_and_why_the_first_did(slot: Slot) -> None:
    ended(slot, "finished", "nonstart", reason="host b is unreachable")
    assert slot.campaign is not None
    run = slot.campaign.runs.order_by("pk")[1]
    assert settled(slot) == ("nonstart", f"Of 2 runs 1 not started. Run {run.pk}: host b is unreachable")


def test_a_cancelled_campaign_makes_a_cancelled_slot(slot: Slot) -> None:
    assert slot.campaign is not None
    campaign_cancel(campaign=slot.campaign)
    state, reason = settled(slot)
    assert state == "cancelled" and reason.startswith("Of 2 runs 2 cancelled.")


def test_a_final_slot_stays_as_it_is(slot: Slot) -> None:
    ended(slot, "finished", "finished")
    settle_slots()
    ended(slot, "failed", "failed")
    assert settle_slots() == 0
    assert settled(slot) == ("finished", "")


def test_settling_costs_two_queries_when_nothing_has_changed(
    slot: Slot, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        assert settle_slots() == 0


def test_the_success_rate_counts_what_came_to_an_end_by_itself() -> None:
    schedule, other = (make_schedule(every="PT1H", starts_at=START, name=name) for name in ("measured", "other"))
    for hour, state in enumerate(["finished", "failed", "missed", "nonstart", "cancelled", "running", "finished"]):
        Slot.objects.create(schedule=schedule, at=START + hour * HOUR, state=state, claimed_at=START)
    assert success_rates([schedule, other], since=START) == {schedule.pk: SuccessRate(2, 5)}
    assert success_rates([schedule], since=START + 3 * HOUR) == {schedule.pk: SuccessRate(1, 2)}
    assert SuccessRate(2, 5).ratio == 0.4
    assert SuccessRate(0, 0).ratio is None


def test_next_slots_are_no_more_than_max_runs_leaves_and_end_with_the_schedule() -> None:
    schedule = make_schedule(every="PT1H", starts_at=START, max_runs=3)
    assert next_slots(schedule) == [START, START + HOUR, START + 2 * HOUR]
    claim_due(START)
    schedule.refresh_from_db()
    assert next_slots(schedule) == [START + HOUR, START + 2 * HOUR]
    ending = make_schedule(every="PT1H", starts_at=START, ends_at=START + HOUR)
    assert next_slots(ending) == [START, START + HOUR]
    assert times_between(schedule, START + HOUR, START + 9 * HOUR) == [START + 2 * HOUR]


def test_a_night_s_slots_are_listed_by_time(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    make_schedule(every="PT1H", starts_at=START)
    claim_due(START)
    claim_due(START + HOUR)
    with django_assert_num_queries(1):
        night = [(slot.at, slot.schedule.plan.name) for slot in slots_between(START, START + HOUR)]
    assert night == [(START, "sizes")]
