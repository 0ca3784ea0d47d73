"""Creating and changing schedules: what is kept, and every refusal."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from benchweb.common.rows import database_now
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.services import archive
from benchweb.plans.services import plan_archive
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.selectors import next_slots
from benchweb.schedules.services import (
    claim_due,
    run_now,
    schedule_archive,
    schedule_draft,
    schedule_pause,
    schedule_restore,
    schedule_resume,
    schedule_update,
)
from tests.factories import make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db

FUTURE = datetime(2040, 1, 1, 2, 0, tzinfo=UTC)
NIGHT = timedelta(days=1)


def test_a_schedule_keeps_what_it_was_given_and_knows_its_next_ten_slots() -> None:
    user = User.objects.create(username="ann")
    pair = make_pair()
    schedule = make_schedule(
        name=" nightly ",
        target={"pairs": [pair.pk, pair.pk]},
        timezone="Asia/Shanghai",
        starts_at=FUTURE,
        window={"from": "02:00", "until": "06:00"},
        user=user,
    )
    schedule.refresh_from_db()
    assert (schedule.name, schedule.target, schedule.created_by) == ("nightly", {"pairs": [pair.pk]}, user)
    assert schedule.next_at == datetime(2040, 1, 1, 18, 0, tzinfo=UTC)
    assert next_slots(schedule) == [schedule.next_at + night * NIGHT for night in range(10)]


def test_an_interval_without_a_start_is_given_one_soon() -> None:
    schedule = make_schedule(every="PT1H")
    now = database_now()
    assert now - timedelta(seconds=5) <= schedule.starts_at <= now + timedelta(hours=1)
    assert schedule.next_at == schedule.starts_at


def test_who_says_from_now_on_means_now_too() -> None:
    schedule = make_schedule(every="PT1H", starts_at=database_now() - timedelta(seconds=3))
    assert schedule.next_at == schedule.starts_at
    long_ago = make_schedule(every="PT1H", starts_at=database_now() - timedelta(minutes=30))
    assert long_ago.next_at == long_ago.starts_at + timedelta(hours=1)


def test_a_draft_is_what_would_be_saved_and_saves_nothing() -> None:
    fields = {"plan": make_plan(), "target": {"pairs": [make_pair().pk]}}
    draft = schedule_draft(name="hourly", every="PT1H", slip_seconds=600, **fields)
    assert Schedule.objects.count() == 0
    saved = make_schedule(name="hourly", every="PT1H", slip_seconds=600, **fields)
    assert next_slots(draft) == next_slots(saved)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("name", {"name": ""}),
        ("name", {"name": "a\nb"}),
        ("cron", {"cron": "0 2"}),
        ("cron", {"cron": "0 0 30 2 *"}),
        ("every", {"every": "P1M"}),
        ("timezone", {"timezone": "Mars/Olympus"}),
        ("ends_at", {"ends_at": datetime(2020, 1, 1, tzinfo=UTC), "starts_at": datetime(2019, 1, 1, tzinfo=UTC)}),
        ("window", {"window": {"from": "03:00", "until": "04:00"}}),
        ("max_runs", {"max_runs": 0}),
        ("missed", {"missed": "run_twice"}),
        ("deadline_seconds", {"deadline_seconds": 0}),
        ("retries", {"retries": 101}),
        ("retry_pause_seconds", {"retry_pause_seconds": 0}),
        ("slip_seconds", {"slip_seconds": -1}),
        ("pairs", {"target": {}}),
        ("pairs", {"target": {"pairs": []}}),
        ("pairs", {"target": {"pairs": [987654]}}),
        ("pairs", {"target": {"pairs": ["1"]}}),
        ("pairs", {"target": {"pairs": [1], "label": "x"}}),
        ("environment", {"target": {"environment": 987654}}),
        ("label", {"target": {"label": "nobody-bears-it"}}),
        ("mesh", {"target": {"mesh": {"endpoints": [987654, 987655]}}}),
        ("mesh", {"target": {"mesh": {"source_modes": ["host"]}}}),
    ],
)
def test_what_cannot_be_is_refused_by_its_field_and_writes_nothing(field: str, fields: dict[str, Any]) -> None:
    with pytest.raises(ScheduleError) as caught:
        make_schedule(**fields)
    assert caught.value.field == field
    assert caught.value.message.endswith(".")
    assert Schedule.objects.count() == 0


@pytest.mark.parametrize("part", ["source", "source_host", "environment", "pair"])
def test_a_schedule_over_something_archived_is_refused_by_its_name(part: str) -> None:
    pair = make_pair()
    rows: dict[str, Host | Endpoint | Environment | Pair] = {
        "source": pair.source,
        "source_host": pair.source.host,
        "environment": pair.environment,
        "pair": pair,
    }
    archive(row=rows[part])
    with pytest.raises(ScheduleError, match="archived") as caught:
        make_schedule(target={"pairs": [pair.pk]})
    assert (caught.value.field, Schedule.objects.count()) == ("pairs", 0)


def test_an_archived_plan_is_refused() -> None:
    plan = make_plan()
    plan_archive(plan=plan)
    plan.refresh_from_db()
    with pytest.raises(ScheduleError, match="archived") as caught:
        make_schedule(plan=plan)
    assert caught.value.field == "plan"


def test_a_schedule_of_an_archived_host_can_still_be_renamed_but_not_aimed_there_anew() -> None:
    pair = make_pair()
    schedule = make_schedule(target={"pairs": [pair.pk]})
    archive(row=pair.source.host)
    assert schedule_update(schedule=schedule, name="renamed").name == "renamed"
    with pytest.raises(ScheduleError):
        schedule_update(schedule=schedule, target={"pairs": [pair.pk, make_pair().pk]})
    schedule.refresh_from_db()
    assert (schedule.name, schedule.target) == ("renamed", {"pairs": [pair.pk]})


def test_more_than_a_thousand_runs_a_slot_ask_first_and_name_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.schedules.definitions.targets.checked_and_counted", lambda target: (target, 9_900))
    with pytest.raises(ScheduleError, match="9,900 runs") as caught:
        make_schedule()
    assert (caught.value.field, Schedule.objects.count()) == ("confirm_runs", 0)
    with pytest.raises(ScheduleError):
        make_schedule(confirm_runs=9_899)
    assert make_schedule(confirm_runs=9_900).confirmed_runs == 9_900


def test_a_change_keeps_what_it_does_not_name() -> None:
    schedule = make_schedule(starts_at=FUTURE, window={"from": "01:00", "until": "05:00"}, max_runs=7, retries=5)
    changed = schedule_update(schedule=schedule, cron="0 3 * * *")
    changed.refresh_from_db()
    assert (changed.max_runs, changed.retries, f"{changed.window_until:%H:%M}") == (7, 5, "05:00")
    assert changed.next_at == FUTURE + timedelta(hours=1)
    assert changed.created_at == schedule.created_at


def test_a_change_by_which_it_would_never_fire_is_refused_and_changes_nothing() -> None:
    schedule = make_schedule(starts_at=FUTURE)
    with pytest.raises(ScheduleError) as caught:
        schedule_update(schedule=schedule, window={"from": "03:00", "until": "04:00"})
    assert caught.value.field == "window"
    schedule.refresh_from_db()
    assert (schedule.window_from, schedule.next_at) == (None, FUTURE)


def test_an_interval_stays_where_it_is_when_its_start_is_not_named_again() -> None:
    schedule = make_schedule(every="PT1H", starts_at=FUTURE)
    assert schedule_update(schedule=schedule, name="x", starts_at=None).starts_at == FUTURE


def test_what_is_due_is_launched_as_it_was_before_a_change_or_a_pause() -> None:
    schedule = make_schedule(every="PT1H", starts_at=database_now() - timedelta(seconds=5))
    schedule_update(schedule=schedule, every="PT2H")
    other = make_schedule(every="PT1H", starts_at=database_now() - timedelta(seconds=5))
    assert schedule_pause(schedule=other)
    assert [slot.at for slot in Slot.objects.order_by("pk")] == [schedule.starts_at, other.starts_at]
    assert Campaign.objects.count() == 2


def test_a_paused_schedule_has_no_slots_and_goes_on_with_the_first_time_after_it_is_resumed() -> None:
    schedule = make_schedule(every="PT1H", starts_at=database_now() + timedelta(minutes=1))
    assert schedule_pause(schedule=schedule)
    assert not schedule_pause(schedule=schedule)
    schedule.refresh_from_db()
    assert next_slots(schedule) == []
    assert claim_due(schedule.starts_at + timedelta(hours=5)) == 0
    Schedule.objects.update(next_at=database_now() - timedelta(days=3))
    assert schedule_resume(schedule=schedule)
    assert not schedule_resume(schedule=schedule)
    schedule.refresh_from_db()
    assert (schedule.next_at, Slot.objects.count()) == (schedule.starts_at, 0)


def test_an_archived_schedule_launches_nothing_until_it_is_restored() -> None:
    schedule = make_schedule(starts_at=FUTURE)
    assert schedule_archive(schedule=schedule)
    assert not schedule_archive(schedule=schedule)
    assert claim_due(FUTURE) == 0
    with pytest.raises(ScheduleError, match="archived"):
        run_now(schedule)
    assert schedule_restore(schedule=schedule)
    assert not schedule_restore(schedule=schedule)
    assert claim_due(FUTURE) == 1


def test_run_now_is_an_extra_slot_that_heeds_no_pause_and_no_window_and_leaves_the_series_alone() -> None:
    user = User.objects.create(username="ann")
    schedule = make_schedule(starts_at=FUTURE, max_runs=1, window={"from": "02:00", "until": "02:00:01"})
    schedule_pause(schedule=schedule)
    slot = run_now(schedule, user)
    assert slot.campaign is not None
    assert (slot.is_extra, slot.state, slot.campaign.created_by) == (True, "pending", user)
    assert Run.objects.count() == 1
    assert abs(slot.at - database_now()) < timedelta(seconds=5)
    schedule_resume(schedule=schedule)
    schedule.refresh_from_db()
    assert schedule.next_at == FUTURE


def test_run_now_twice_in_a_second_is_one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make_schedule(starts_at=FUTURE)
    now = database_now().replace(microsecond=100)
    for microseconds in (100, 900_000):
        at = now.replace(microsecond=microseconds)
        monkeypatch.setattr("benchweb.schedules.services.database_now", lambda at=at: at)
        run_now(schedule)
    assert (Slot.objects.count(), Campaign.objects.count()) == (1, 1)
