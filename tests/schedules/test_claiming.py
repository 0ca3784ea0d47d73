"""Due times become slots, each once: with two ticks at once, after a night without a beat, with clocks that step."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Endpoint
from benchweb.hosts.services import archive
from benchweb.plans.models import Plan
from benchweb.plans.services import plan_archive, plan_update
from benchweb.runs import services as runs
from benchweb.runs.models import Campaign, Run
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.services import claim_due
from benchweb.schedules.slots import launching
from tests.factories import SIZES, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db

START = datetime(2040, 1, 1, 2, 0, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def hourly(**fields: Any) -> Schedule:
    return make_schedule(every="PT1H", starts_at=START, **fields)


def slots() -> list[tuple[float, str]]:
    """Return all slots as (hours after START, state)."""
    return [((slot.at - START) / HOUR, slot.state) for slot in Slot.objects.order_by("at")]


def test_a_due_time_becomes_a_slot_with_a_campaign_and_the_next_is_awaited() -> None:
    schedule = hourly()
    assert claim_due(START - SECOND) == 0
    assert claim_due(START) == 1
    assert claim_due(START) == 0
    slot = Slot.objects.get()
    assert (slot.at, slot.state, slot.reason, slot.claimed_at) == (START, "pending", "", START)
    assert slot.campaign is not None
    assert slot.campaign.runs.count() == 1
    schedule.refresh_from_db()
    assert schedule.next_at == START + HOUR


def test_what_a_schedule_says_of_retries_and_its_deadline_is_its_campaign_s() -> None:
    hourly(retries=4, retry_pause_seconds=30, deadline_seconds=900)
    claim_due(START + SECOND)
    campaign = Campaign.objects.get()
    assert (campaign.retries, campaign.retry_pause_seconds) == (4, 30)
    assert campaign.start_before == START + timedelta(seconds=900)


def test_runs_must_have_begun_early_enough_to_be_done_by_the_window_s_end() -> None:
    hourly(window={"from": "02:00", "until": "06:00"})
    claim_due(START)
    held = occupancy(Run.objects.get().plan_version_id).seconds
    assert held > 1
    assert Campaign.objects.get().start_before == START + 4 * HOUR - timedelta(seconds=held)


def test_a_plan_longer_than_its_window_is_a_nonstart_each_night_and_says_why() -> None:
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 120}}])
    make_schedule(plan=plan, starts_at=START, window={"from": "02:00", "until": "02:01"})
    claim_due(START)
    slot = Slot.objects.get()
    assert (slot.state, slot.campaign) == ("nonstart", None)
    assert slot.reason.startswith("Its time closes at 02:01 UTC, and a run takes up to 2 min")


def test_a_night_without_a_beat_is_skipped_with_a_reason_for_each_slot() -> None:
    hourly()
    assert claim_due(START + 3.5 * HOUR) == 4
    assert slots() == [(0, "missed"), (1, "missed"), (2, "missed"), (3, "missed")]
    first = Slot.objects.order_by("at")[0]
    assert first.reason == "Found 3 h 30 min after its time; the schedule skips what it misses."
    assert Campaign.objects.count() == 0


def test_the_slot_of_this_minute_runs_although_those_before_it_were_missed() -> None:
    hourly()
    claim_due(START + 3 * HOUR + 59 * SECOND)
    assert slots() == [(0, "missed"), (1, "missed"), (2, "missed"), (3, "pending")]


def test_run_once_makes_up_for_a_night_by_its_newest_slot() -> None:
    hourly(missed="run_once")
    claim_due(START + 3.5 * HOUR)
    assert slots() == [(0, "missed"), (1, "missed"), (2, "missed"), (3, "pending")]
    newest = Slot.objects.order_by("-at")[0]
    assert newest.reason == "Found 30 min after its time."
    assert Campaign.objects.count() == 1


def test_run_once_needs_no_makeup_where_a_slot_is_on_time() -> None:
    hourly(missed="run_once")
    claim_due(START + 3 * HOUR)
    assert slots() == [(0, "missed"), (1, "missed"), (2, "missed"), (3, "pending")]
    assert "makes up" in Slot.objects.order_by("at")[0].reason
    assert Campaign.objects.count() == 1


def test_run_all_launches_the_first_missed_slot_and_lets_the_others_wait() -> None:
    hourly(missed="run_all")
    assert claim_due(START + 3.5 * HOUR) == 4
    assert slots() == [(0, "pending"), (1, "pending"), (2, "pending"), (3, "pending")]
    assert Campaign.objects.count() == 1


def test_a_missed_slot_whose_deadline_is_over_stays_missed_under_any_policy() -> None:
    hourly(missed="run_all", deadline_seconds=1800)
    claim_due(START + HOUR + 20 * MINUTE)
    assert slots() == [(0, "missed"), (1, "pending")]
    first = Slot.objects.order_by("at")[0]
    assert first.reason == "Found 1 h 20 min after its time. It had to begin within 30 min."


@pytest.mark.parametrize("missed", ["skip", "run_once"])
def test_more_missed_slots_than_one_batch_are_all_recorded_and_one_at_most_runs(missed: str) -> None:
    make_schedule(every="PT10S", starts_at=START, missed=missed)
    assert claim_due(START + 4 * HOUR + 9 * SECOND) == 1441
    on_time = Slot.objects.filter(state__in=("pending", "skipped"))
    assert [slot.at for slot in on_time.order_by("at")] == [
        START + 4 * HOUR - timedelta(seconds=number) for number in range(50, -1, -10)
    ]
    assert Slot.objects.filter(state="missed").count() == 1441 - 6
    assert Slot.objects.filter(state="pending").count() == 2


def test_exactly_a_batch_of_missed_slots_is_made_up_for_once() -> None:
    make_schedule(every="PT1H", starts_at=START, ends_at=START + 499 * HOUR, missed="run_once")
    assert claim_due(START + 600 * HOUR) == 500
    assert Slot.objects.filter(state="missed").count() == 499
    assert Slot.objects.get(state="pending").at == START + 499 * HOUR


def test_slip_is_also_the_time_within_which_a_slot_is_not_missed() -> None:
    schedule = make_schedule(cron="0 2 * * *", starts_at=START, slip_seconds=1200)
    assert schedule.next_at is not None
    claim_due(schedule.next_at + 19 * MINUTE)
    assert Slot.objects.get().state == "pending"
    assert START < schedule.next_at <= START + 20 * MINUTE


def test_max_runs_counts_slots_missed_ones_too() -> None:
    schedule = hourly(max_runs=3)
    claim_due(START + 1.5 * HOUR)
    assert claim_due(START + 2 * HOUR) == 1
    assert claim_due(START + 9 * HOUR) == 0
    assert slots() == [(0, "missed"), (1, "missed"), (2, "pending")]
    schedule.refresh_from_db()
    assert schedule.next_at is None


def test_a_schedule_that_has_ended_awaits_nothing() -> None:
    schedule = hourly(ends_at=START + HOUR)
    claim_due(START)
    claim_due(START + HOUR)
    schedule.refresh_from_db()
    assert (slots(), schedule.next_at) == ([(0, "pending"), (1, "pending")], None)


def test_a_clock_set_back_by_an_hour_doubles_nothing() -> None:
    hourly()
    for now in (START, START + HOUR, START + 30 * SECOND, START + HOUR - SECOND, START + HOUR + SECOND):
        claim_due(now)
    assert slots() == [(0, "pending"), (1, "pending")]
    assert claim_due(START + 2 * HOUR) == 1


def test_a_clock_set_forward_by_an_hour_drops_nothing_unsaid() -> None:
    hourly()
    claim_due(START)
    claim_due(START + 2 * HOUR)
    claim_due(START + HOUR)
    claim_due(START + 3 * HOUR)
    assert slots() == [(0, "pending"), (1, "missed"), (2, "pending"), (3, "skipped")]


def test_a_run_keeps_the_plan_version_of_its_slot_and_the_next_slot_takes_the_new_one() -> None:
    plan = make_plan()
    hourly(plan=plan)
    claim_due(START)
    Run.objects.update(state="finished")
    plan_update(plan=plan, name="sizes", steps=SIZES, repetitions=2, order="shuffled")
    claim_due(START + HOUR)
    numbers = [run.plan_version.number for run in Run.objects.order_by("pk")]
    assert numbers == [1, 2]


def test_a_slot_without_a_usable_pair_is_a_nonstart_that_names_what_is_archived() -> None:
    pair = make_pair()
    hourly(target={"pairs": [pair.pk]})
    archive(row=pair.sink.host)
    claim_due(START)
    slot = Slot.objects.get()
    assert (slot.state, slot.campaign) == ("nonstart", None)
    assert f"its pair {pair} is archived" in slot.reason


def test_pairs_that_are_archived_are_left_out_and_the_others_run() -> None:
    one, other = make_pair(), make_pair()
    hourly(target={"pairs": [one.pk, other.pk]})
    archive(row=one)
    claim_due(START)
    slot = Slot.objects.get()
    assert slot.campaign is not None
    assert [run.pair_id for run in slot.campaign.runs.all()] == [other.pk]
    assert slot.reason == f"Left out: {one}: its pair {one} is archived."


def test_an_archived_plan_is_a_nonstart() -> None:
    plan = make_plan()
    hourly(plan=plan)
    plan_archive(plan=plan)
    claim_due(START)
    assert (Slot.objects.get().state, Campaign.objects.count()) == ("nonstart", 0)
    assert "archived" in Slot.objects.get().reason


def test_hosts_that_have_long_been_silent_make_a_nonstart_only_where_no_pair_is_without_one() -> None:
    silent, pair = make_pair(), make_pair()
    Endpoint.objects.filter(pk=silent.sink_id).update(unreachable_since=START - HOUR)
    hourly(target={"pairs": [silent.pk]})
    hourly(target={"pairs": [silent.pk, pair.pk]})
    claim_due(START)
    alone, both = Slot.objects.order_by("schedule")
    assert both.campaign is not None
    assert (alone.state, both.state, both.campaign.runs.count()) == ("nonstart", "pending", 2)
    assert alone.reason == f"No pair can run: {silent.sink} has given no valid answer since 2040-01-01 01:00 UTC."


def test_a_host_silent_for_a_moment_is_tried() -> None:
    pair = make_pair()
    Endpoint.objects.filter(pk=pair.sink_id).update(unreachable_since=START - 2 * MINUTE)
    hourly(target={"pairs": [pair.pk]})
    claim_due(START)
    assert Slot.objects.get().state == "pending"


def test_a_target_that_grew_past_what_was_agreed_to_asks_instead_of_running(monkeypatch: pytest.MonkeyPatch) -> None:
    hourly()
    monkeypatch.setattr(runs, "CONFIRM_ABOVE", 0)
    claim_due(START)
    slot = Slot.objects.get()
    assert (slot.state, Run.objects.count()) == ("nonstart", 0)
    assert slot.reason.startswith("It would be 1 runs, and nobody agreed to so many")


def test_a_bug_at_launch_fails_its_slot_and_neither_repeats_nor_stops_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = hourly(name="broken")
    hourly(name="sound")
    whole = runs.launch

    def launch(*, plan: Plan, **others: Any) -> Campaign:
        if plan == broken.plan:
            raise ZeroDivisionError("division by zero")
        return whole(plan=plan, **others)

    monkeypatch.setattr(runs, "launch", launch)
    assert claim_due(START) == 2
    assert claim_due(START) == 0
    failed = Slot.objects.get(schedule=broken)
    assert (failed.state, failed.reason) == ("failed", "Could not be launched: ZeroDivisionError: division by zero")
    assert Slot.objects.exclude(schedule=broken).get().state == "pending"


def test_a_database_that_fails_in_between_leaves_nothing_half_done_and_the_next_tick_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hourly()
    monkeypatch.setattr(launching, "_campaign", lambda *_: (_ for _ in ()).throw(OperationalError("gone")))
    assert claim_due(START) == 0
    assert (Slot.objects.count(), Campaign.objects.count()) == (0, 0)
    monkeypatch.undo()
    assert claim_due(START) == 1
    assert slots() == [(0, "pending")]


@pytest.mark.django_db(transaction=True)
def test_of_many_ticks_at_once_each_slot_is_made_by_one() -> None:
    for number in range(6):
        hourly(name=f"schedule {number}")
    made: list[int] = []
    errors: list[Exception] = []
    barrier = threading.Barrier(6)

    def tick(hours: int) -> None:
        try:
            barrier.wait()
            made.append(claim_due(START + hours * HOUR))
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    for hours in (0, 1, 2):
        threads = [threading.Thread(target=tick, args=(hours,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {slot.state for slot in Slot.objects.filter(at=START + hours * HOUR)} == {"pending"}
        Run.objects.update(state="finished")
    assert errors == []
    assert sum(made) == Slot.objects.count() == Campaign.objects.count() == Run.objects.count() == 18


def test_an_idle_tick_costs_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    hourly()
    with django_assert_num_queries(4):  # with the savepoint of the test's transaction
        claim_due()
