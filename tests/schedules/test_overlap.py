"""A schedule has one campaign under way and at most one slot waiting; pause and archive end what waits."""

import contextlib
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from benchweb.common.rows import database_now
from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.queueing.claims import begin, claim
from benchweb.runs.services import campaign_cancel
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.selectors import SuccessRate, success_rates
from benchweb.schedules.services import (
    begin_waiting,
    claim_due,
    run_now,
    schedule_archive,
    schedule_cancel,
    schedule_pause,
    schedule_resume,
    schedule_update,
    settle_slots,
)
from tests.factories import begun, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db

START = datetime(2040, 1, 1, 2, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def minutely(**fields: Any) -> Schedule:
    return make_schedule(every="PT1M", starts_at=START, **fields)


def end_runs(state: str = "finished") -> None:
    Run.objects.filter(state__in=("pending", "running")).update(state=state)


def slots() -> list[tuple[int, str, bool]]:
    """Return all slots as (minutes after START, state, whether it has a campaign)."""
    rows = Slot.objects.order_by("at")
    return [((slot.at - START) // MINUTE, slot.state, slot.campaign_id is not None) for slot in rows]


def test_of_twenty_minutes_one_campaign_is_under_way_one_slot_waits_and_the_others_are_skipped() -> None:
    minutely()
    for minute in range(20):
        claim_due(START + minute * MINUTE)
        begin_waiting(START + minute * MINUTE)
    assert slots()[:3] == [(0, "pending", True), (1, "pending", False), (2, "skipped", False)]
    assert {state for _, state, _ in slots()[2:]} == {"skipped"}
    assert Campaign.objects.count() == 1
    campaign = Campaign.objects.get().pk
    first, second, third = Slot.objects.order_by("at")[:3]
    assert first.reason == ""
    assert second.reason == f"Waits until campaign {campaign} has ended."
    assert third.reason == f"Skipped: campaign {campaign} had not ended, and another slot was waiting already."


def test_a_schedule_that_skips_lets_nothing_wait() -> None:
    minutely(overlap="skip")
    claim_due(START)
    claim_due(START + MINUTE)
    assert slots() == [(0, "pending", True), (1, "skipped", False)]
    assert Slot.objects.order_by("at")[1].reason == f"Skipped: campaign {Campaign.objects.get().pk} had not ended."
    end_runs()
    claim_due(START + 2 * MINUTE)
    assert slots() == [(0, "finished", True), (1, "skipped", False), (2, "pending", True)]


def test_the_slot_that_waits_begins_when_the_campaign_before_it_ends_however_that_ended() -> None:
    minutely()
    claim_due(START)
    claim_due(START + MINUTE)
    assert begin_waiting(START + MINUTE) == 0
    campaign_cancel(campaign=Campaign.objects.get())
    assert begin_waiting(START + 2 * MINUTE) == 1
    assert slots() == [(0, "cancelled", True), (1, "pending", True)]
    assert Slot.objects.order_by("at")[1].reason == ""


def test_a_run_that_is_under_way_counts_and_so_does_one_that_only_waits_for_its_hosts() -> None:
    minutely(overlap="skip", target={"pairs": [make_pair().pk, make_pair().pk]})
    claim_due(START)
    one = Run.objects.order_by("pk")[0]
    assert begun(one, "worker")
    settle_slots()
    claim_due(START + MINUTE)
    Run.objects.filter(pk=one.pk).update(state="finished", lease_owner="", lease_until=None)
    claim_due(START + 2 * MINUTE)
    assert slots() == [(0, "running", True), (1, "skipped", False), (2, "skipped", False)]


def test_schedules_of_one_plan_do_not_hold_each_other_up() -> None:
    plan = make_plan()
    minutely(plan=plan, overlap="skip")
    minutely(plan=plan, overlap="skip")
    claim_due(START)
    assert slots() == [(0, "pending", True), (0, "pending", True)]


def test_a_night_to_make_up_for_runs_one_slot_after_the_other_and_those_on_time_meanwhile_are_skipped() -> None:
    minutely(missed="run_all", overlap="skip")
    now = START + timedelta(minutes=4, seconds=30)
    assert claim_due(now) == 5
    assert slots() == [
        *[(0, "pending", True), (1, "pending", False), (2, "pending", False), (3, "pending", False)],
        (4, "skipped", False),
    ]
    for made in (2, 3, 4):
        end_runs()
        assert begin_waiting(now) == 1
        assert (begin_waiting(now), Campaign.objects.count()) == (0, made)
    assert Slot.objects.order_by("at")[3].reason == "Found 1 min 30 s after its time."


def test_a_slot_that_waited_past_its_deadline_never_begins_and_the_next_has_its_turn() -> None:
    minutely(deadline_seconds=90)
    claim_due(START)
    claim_due(START + MINUTE)
    end_runs()
    assert begin_waiting(START + 5 * MINUTE) == 0
    assert slots() == [(0, "finished", True), (1, "nonstart", False)]
    assert Slot.objects.order_by("at")[1].reason == "It had to begin within 1 min 30 s."


@pytest.mark.parametrize(
    ("end", "how"), [(schedule_pause, "paused"), (schedule_archive, "archived")], ids=["pause", "archive"]
)
def test_pause_and_archive_end_what_waits_and_leave_what_runs(end: Callable[..., bool], how: str) -> None:
    schedule = minutely(target={"pairs": [make_pair().pk, make_pair().pk]})
    claim_due(START)
    claim_due(START + MINUTE)
    one, two = Run.objects.order_by("pk")
    held = claim(run_id=two.pk, owner="asks the engines")
    assert held and begun(one, "worker")
    Schedule.objects.update(next_at=START + 2 * MINUTE)
    assert end(schedule=schedule)
    one.refresh_from_db()
    two.refresh_from_db()
    assert (one.state, one.cancel_requested_at) == ("running", None)
    assert (two.state, two.reason) == ("cancelled", f"the schedule was {how} before it started")
    assert {trial.state for trial in two.trials.all()} == {"cancelled"}
    # The worker that held it is told that there is nothing to begin.
    assert not begin(claimed=held)
    assert slots()[1] == (1, "cancelled", False)
    assert Slot.objects.order_by("at")[1].reason == f"The schedule was {how} before its turn came."
    end_runs()
    assert (begin_waiting(START + 9 * MINUTE), claim_due(START + 9 * MINUTE)) == (0, 0)
    assert Campaign.objects.count() == 1


def test_what_is_due_at_the_moment_of_a_pause_is_a_slot_that_never_begins() -> None:
    schedule = make_schedule(every="PT1H", starts_at=database_now() - timedelta(seconds=5))
    schedule_pause(schedule=schedule)
    settle_slots()
    slot = Slot.objects.get()
    assert slot.state == "cancelled" and "the schedule was paused before it started" in slot.reason


def test_cancel_ends_what_runs_and_what_waits_and_the_schedule_goes_on() -> None:
    schedule = minutely()
    claim_due(START)
    claim_due(START + MINUTE)
    run = Run.objects.get()
    assert begun(run, "worker")
    assert schedule_cancel(schedule=schedule) == 2
    run.refresh_from_db()
    assert (run.state, run.cancel_requested_at is not None) == ("running", True)
    assert slots()[1] == (1, "cancelled", False)
    assert schedule_cancel(schedule=schedule) == 0
    end_runs("cancelled")
    claim_due(START + 2 * MINUTE)
    assert slots()[2] == (2, "pending", True)


def test_run_now_waits_for_the_campaign_under_way_or_is_refused_and_writes_nothing() -> None:
    ann = User.objects.create(username="ann")
    schedule = minutely()
    claim_due(START)
    extra = run_now(schedule, ann)
    assert (extra.state, extra.campaign_id) == ("pending", None)
    assert extra.reason == f"Waits until campaign {Campaign.objects.get().pk} has ended."
    Slot.objects.filter(pk=extra.pk).update(at=START - MINUTE)
    with pytest.raises(ScheduleError, match="has not ended: wait for it, or cancel it first"):
        run_now(schedule, ann)
    assert Slot.objects.count() == 2
    skipping = minutely(overlap="skip")
    run_now(skipping, ann)
    Slot.objects.filter(schedule=skipping).update(at=START - MINUTE)
    with pytest.raises(ScheduleError, match=r"Campaign \d+ has not ended"):
        run_now(skipping, ann)
    assert Slot.objects.filter(schedule=skipping).count() == 1


def test_run_now_of_a_paused_schedule_that_waits_begins() -> None:
    schedule = minutely()
    claim_due(START)
    begun(Run.objects.get(), "worker")
    schedule_pause(schedule=schedule)
    assert run_now(schedule).campaign_id is None
    end_runs()
    assert begin_waiting() == 1


def test_the_setting_is_kept_changed_and_checked() -> None:
    schedule = minutely()
    assert schedule.overlap == "queue_one"
    assert schedule_update(schedule=schedule, overlap="skip").overlap == "skip"
    with pytest.raises(ScheduleError, match="overlap is one of skip, queue_one") as caught:
        schedule_update(schedule=schedule, overlap="queue_all")
    assert caught.value.field == "overlap"


def test_what_was_skipped_is_counted_apart_from_what_failed() -> None:
    schedule = minutely()
    for minute, state in enumerate(["finished", "failed", "skipped", "skipped", "cancelled", "missed"]):
        Slot.objects.create(schedule=schedule, at=START + minute * MINUTE, state=state, claimed_at=START)
    assert success_rates([schedule], since=START) == {schedule.pk: SuccessRate(1, 3, 2)}


@pytest.mark.django_db(transaction=True)
def test_a_pause_among_ticks_and_workers_leaves_nothing_that_could_begin() -> None:
    """Whatever comes first, nothing is pending after the pause."""
    for number in range(6):
        schedule = minutely(name=f"round {number}", target={"pairs": [make_pair().pk, make_pair().pk]})
        claim_due(START)
        barrier = threading.Barrier(4)

        def work() -> None:
            for run in Run.objects.filter(state=State.PENDING):
                if held := claim(run_id=run.pk, owner=f"worker {run.pk}"):
                    begin(claimed=held)

        def tick() -> None:
            claim_due(START + MINUTE)
            begin_waiting(START + MINUTE)

        together(barrier, tick, tick, work, partial(schedule_pause, schedule=schedule))
        tick()
        assert not Run.objects.filter(state=State.PENDING).exists()
        assert not Slot.objects.filter(schedule=schedule, state="pending", campaign=None).exists()
        assert Campaign.objects.filter(slot__schedule=schedule).count() == 1
        schedule_resume(schedule=schedule)
        schedule_archive(schedule=schedule)


@pytest.mark.django_db(transaction=True)
def test_ticks_and_run_now_at_once_launch_one_campaign() -> None:
    schedule = minutely()
    barrier = threading.Barrier(6)
    asks = [lambda: run_now_or_refused(schedule)] * 3
    together(barrier, *[lambda: claim_due(START)] * 3, *asks)
    # A tick leaves a schedule that is locked to the next.
    claim_due(START)
    assert Campaign.objects.count() == 1
    assert Slot.objects.filter(state="pending", campaign=None).count() == 1


def run_now_or_refused(schedule: Schedule) -> None:
    with contextlib.suppress(ScheduleError):
        run_now(schedule)


def together(barrier: threading.Barrier, *jobs: Callable[[], object]) -> None:
    """Do all jobs at once, each with a connection of its own; raise what one raised."""
    errors: list[Exception] = []

    def do(job: Callable[[], object]) -> None:
        try:
            barrier.wait()
            job()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
