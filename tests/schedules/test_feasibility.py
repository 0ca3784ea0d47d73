"""Feasibility: what a schedule's campaigns take, whether that fits, who is in the way, and what would help."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import translation
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.plans.models import Plan, PlanVersion
from benchweb.plans.services import plan_archive
from benchweb.runs.models import Resource
from benchweb.schedules.forecasts.collisions import MOST_OTHERS
from benchweb.schedules.forecasts.feasibility import Feasibility, feasibility
from benchweb.schedules.forecasts.forecast import OccupiedResources, forecast
from benchweb.schedules.forecasts.joint import GanttBar
from benchweb.schedules.models import Schedule
from benchweb.schedules.services import schedule_draft, schedule_pause
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2040, 1, 2, tzinfo=UTC)
# With the second that every test takes for its connections: a minute.
MINUTE = [{"kind": "tcp_stream", "params": {"duration_seconds": 59}}]
PING = [{"kind": "ping", "params": {"count": 58, "probe_interval_seconds": 1.0}}]
NIGHTLY = {"cron": "0 2 * * *", "starts_at": MIDNIGHT}


def at(hour: int, minute: int, day: int = 2) -> datetime:
    return datetime(2040, 1, day, hour, minute, tzinfo=UTC)


def minutes(count: int, **fields: Any) -> Plan:
    return make_plan(steps=MINUTE, repetitions=count, **fields)


def mesh_target(hosts: int, names: str = "abcdefgh", **fields: Any) -> dict[str, Any]:
    ends = [make_endpoint(host_name=name, **fields) for name in names[:hosts]]
    return {"mesh": {"endpoints": [end.pk for end in ends]}}


def found(**fields: Any) -> Feasibility:
    return feasibility(schedule_draft(**({"name": "nightly"} | NIGHTLY | fields)), now=MIDNIGHT)


def test_a_mesh_in_a_window_is_foretold_to_the_minute_and_nothing_is_written() -> None:
    target = mesh_target(4)
    result = found(plan=minutes(1), target=target, window={"from": "02:00", "until": "02:10"})
    assert (result.fits, result.reason, result.smallest_change) == (True, "", "")
    assert (result.runs, result.makespan_seconds, result.lower_bound_seconds) == (12, 360, 360)
    assert (result.host_minutes_needed, result.host_minutes_available) == (24, 40)
    assert (result.starts_at, result.ends_at) == (at(2, 0), at(2, 6))
    assert (result.conflict, result.is_estimated, result.others_left_out) == (None, False, 0)
    assert result.bars == [GanttBar("nightly", f"host {name}", at(2, 0), at(2, 6), True) for name in "abcd"]
    assert (Schedule.objects.count(), Pair.objects.count(), Resource.objects.count()) == (0, 0, 0)


def test_a_schedule_whose_plan_is_archived_does_not_fit_and_says_what_to_do() -> None:
    schedule = make_schedule(**NIGHTLY)
    assert feasibility(schedule, now=MIDNIGHT).fits
    plan_archive(plan=schedule.plan)
    result = feasibility(Schedule.objects.get(), now=MIDNIGHT)
    assert (result.fits, result.starts_at, result.bars) == (False, None, [])
    assert result.reason == f"Plan {schedule.plan} is archived: restore it, or choose another."
    with translation.override("zh-hans"):
        result = feasibility(Schedule.objects.get(), now=MIDNIGHT)
        assert result.reason == f"计划 {schedule.plan} 已归档：请恢复它，或选择另一个。"


def test_a_campaign_longer_than_its_window_names_what_would_help_the_smallest_first() -> None:
    result = found(plan=minutes(3), target=mesh_target(4), window={"from": "02:00", "until": "02:10"})
    assert not result.fits
    assert result.reason == (
        "All runs take 18 min, but from 02:00 until its time closes at 02:10 UTC there are 10 min: "
        "6 of 12 runs would not start."
    )
    assert result.smallest_change == (
        "Run on 6 of the 12 pairs, or repeat 1 in place of 3 times, or give it 8 min more, until 02:18 UTC."
    )


@pytest.mark.parametrize("until", ["02:18", "02:19"])
def test_the_window_that_was_asked_for_is_enough(until: str) -> None:
    assert found(plan=minutes(3), target=mesh_target(4), window={"from": "02:00", "until": until}).fits


def test_the_repetitions_that_were_asked_for_are_few_enough() -> None:
    target = mesh_target(4)
    window = {"from": "02:00", "until": "02:17"}
    assert "Repeat" not in found(plan=minutes(2), target=target, window=window).smallest_change
    assert "repeat 2 in place of 3 times" in found(plan=minutes(3), target=target, window=window).smallest_change
    assert found(plan=minutes(2), target=target, window=window).fits


def test_a_window_shorter_than_one_run_is_said_to_be_so() -> None:
    result = found(plan=minutes(5), target={"pairs": [make_pair().pk]}, window={"from": "02:00", "until": "02:02"})
    assert result.reason == (
        "One run takes up to 5 min, but from 02:00 until its time closes at 02:02 UTC there are 2 min."
    )
    assert result.smallest_change == "Repeat 2 in place of 5 times, or give it 3 min more, until 02:05 UTC."


def test_slots_that_follow_faster_than_a_campaign_lasts_are_said_to_do_so() -> None:
    target = mesh_target(4)
    result = found(plan=minutes(1), target=target, cron="", every="PT5M", starts_at=at(1, 0))
    assert result.reason == "A slot follows 5 min after the one before, but a campaign takes 6 min."
    assert result.smallest_change == ("Run on 10 of the 12 pairs, or leave at least 6 min between two slots.")
    assert result.host_minutes_available == 20
    assert found(plan=minutes(1), target=target, cron="", every="PT6M", starts_at=at(1, 0)).fits


def test_a_deadline_that_the_last_runs_would_miss_is_told() -> None:
    target = mesh_target(4)
    result = found(plan=minutes(1), target=target, deadline_seconds=240)
    assert result.reason == (
        "The last run begins 5 min after the first, but all must begin within 4 min: 2 of 12 runs would not start."
    )
    assert result.smallest_change == "Run on 10 of the 12 pairs, or give its runs 5 min to begin."
    assert found(plan=minutes(1), target=target, deadline_seconds=300).fits


def test_a_night_that_the_clocks_shorten_is_found_weeks_before() -> None:
    """On 2040-03-25 Berlin's clocks skip from 02:00 to 03:00."""
    schedule = schedule_draft(
        name="nightly",
        plan=minutes(150),
        target={"pairs": [make_pair().pk]},
        cron="0 1 * * *",
        timezone="Europe/Berlin",
        starts_at=datetime(2040, 3, 1, tzinfo=UTC),
        window={"from": "01:00", "until": "04:00"},
    )
    assert feasibility(schedule, now=datetime(2040, 3, 5, tzinfo=UTC)).fits
    result = feasibility(schedule, now=datetime(2040, 3, 14, tzinfo=UTC))
    assert result.reason == (
        "One run takes up to 2 h 30 min, but from 01:00 until its time closes at 04:00 Europe/Berlin there are 2 h."
    )
    assert result.starts_at == datetime(2040, 3, 25, 0, 0, tzinfo=UTC)


def test_another_schedule_on_the_same_host_is_named_with_the_time_and_the_wait() -> None:
    a, b, c = (make_endpoint(host_name=name) for name in "abc")
    other = make_schedule(
        name="long one",
        plan=minutes(10),
        target={"pairs": [make_pair(source=b, sink=c).pk]},
        cron="55 1 * * *",
        starts_at=MIDNIGHT,
    )
    own = {"plan": minutes(1), "target": {"pairs": [make_pair(source=a, sink=b).pk]}}
    result = found(**own)
    conflict = result.conflict
    assert conflict is not None
    assert (conflict.schedule, conflict.name, conflict.place) == (other.pk, "long one", "host b")
    assert (conflict.slot_at, conflict.other_slot_at) == (at(2, 0), at(1, 55))
    assert (conflict.at, conflict.until) == (at(2, 0), at(2, 1))
    assert result.conflict_text == (
        "On 2040-01-02 at 02:00 UTC schedule long one (its slot of 01:55 UTC) wants host b too, for 1 min: "
        "runs wait for each other."
    )
    assert (result.fits, result.ends_at) == (True, at(2, 6))
    assert result.bars == [
        GanttBar("nightly", "host a", at(2, 5), at(2, 6), True),
        GanttBar("nightly", "host b", at(2, 5), at(2, 6), True),
        GanttBar("long one", "host b", at(1, 55), at(2, 5), False),
    ]
    late = found(**own, window={"from": "02:00", "until": "02:05"})
    assert late.reason == (
        "Alone it would fit, but behind schedule long one on host b it takes until 02:06 UTC, "
        "and its time closes at 02:05 UTC."
    )
    assert (late.fits, late.smallest_change) == (False, "Give it 1 min more, until 02:06 UTC.")
    schedule_pause(schedule=other)
    assert found(**own).conflict is None


def test_the_first_conflict_may_be_nights_away() -> None:
    a, b, c = (make_endpoint(host_name=name) for name in "abc")
    weekly = {"target": {"pairs": [make_pair(source=b, sink=c).pk]}, "cron": "1 2 * * 6", "starts_at": MIDNIGHT}
    make_schedule(name="weekly", plan=minutes(1), **weekly)
    make_schedule(name="elsewhere", plan=minutes(1), **NIGHTLY)
    result = found(plan=minutes(3), target={"pairs": [make_pair(source=a, sink=b).pk]})
    assert result.conflict is not None
    assert (result.conflict.name, result.conflict.at) == ("weekly", at(2, 1, day=7))
    assert (result.starts_at, result.ends_at) == (at(2, 0, day=7), at(2, 3, day=7))


def test_what_meets_at_a_moment_or_excludes_nobody_is_no_conflict() -> None:
    a, b, c = (make_endpoint(host_name=name) for name in "abc")
    other = {"target": {"pairs": [make_pair(source=b, sink=c).pk]}, "starts_at": MIDNIGHT}
    target = {"pairs": [make_pair(source=a, sink=b).pk]}
    make_schedule(name="just after", plan=minutes(1), cron="1 2 * * *", **other)
    assert found(plan=minutes(1), target=target).conflict is None
    make_schedule(name="ping", plan=make_plan(steps=PING), cron="0 2 * * *", **other)
    assert found(plan=make_plan(steps=PING), target=target).conflict is None
    conflict = found(plan=minutes(1), target=target).conflict
    assert conflict is not None and conflict.name == "ping"


def test_runs_that_share_an_uplink_follow_each_other() -> None:
    ends = [make_endpoint(host_name=name) for name in "abcd"]
    Host.objects.filter(name__in="ab").update(uplink="north")
    Host.objects.filter(name__in="cd").update(uplink="south")
    pairs = [make_pair(source=ends[0], sink=ends[2]), make_pair(source=ends[1], sink=ends[3])]
    result = found(plan=minutes(1), target={"pairs": [pair.pk for pair in pairs]})
    assert result.makespan_seconds == 120
    assert {bar.resource for bar in result.bars} == {
        "host a",
        "host b",
        "host c",
        "host d",
        "uplink north",
        "uplink south",
    }


def test_of_very_many_others_those_due_first_are_compared_and_the_rest_is_counted() -> None:
    ends = [make_endpoint(host_name=name) for name in "ab"]
    target = {"pairs": [make_pair(source=ends[0], sink=ends[1]).pk]}
    plan = minutes(1)
    for number in range(MOST_OTHERS + 2):
        make_schedule(name=f"other {number}", plan=plan, target=target, cron=f"{number} 3 * * *", starts_at=MIDNIGHT)
    result = found(plan=plan, target=target, cron="50 3 * * *")
    assert (result.conflict, result.others_left_out) == (None, 2)
    conflict = found(plan=plan, target=target, cron="49 3 * * *").conflict
    assert conflict is not None and conflict.name == "other 49"


def test_a_saved_schedule_is_not_in_conflict_with_itself() -> None:
    schedule = make_schedule(name="nightly", plan=minutes(1), target=mesh_target(4), **NIGHTLY)
    assert feasibility(schedule, now=MIDNIGHT).conflict is None
    schedule_pause(schedule=schedule)
    schedule.refresh_from_db()
    assert feasibility(schedule, now=MIDNIGHT).ends_at == at(2, 6)


def test_what_is_asked_of_the_database_does_not_grow_with_the_runs(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    targets = mesh_target(3, names="xyz"), mesh_target(8)
    for draft in [schedule_draft(name="x", plan=minutes(1), target=target, **NIGHTLY) for target in targets]:
        with django_assert_num_queries(6):
            feasibility(draft, now=MIDNIGHT)


def test_beyond_five_thousand_runs_the_bound_is_taken_for_the_length() -> None:
    environment = Environment(pk=1)
    ends = [Endpoint(pk=number, host=Host(pk=number, name=f"h{number}")) for number in range(1, 74)]
    pairs = [Pair(source=a, sink=b, environment=environment) for a in ends for b in ends if a is not b]
    version = PlanVersion(steps=MINUTE, repetitions=1, order="interleaved")
    exact = forecast(version, pairs[: 70 * 70], OccupiedResources())
    estimated = forecast(version, pairs, OccupiedResources())
    assert (len(pairs), exact.is_estimated, estimated.is_estimated) == (73 * 72, False, True)
    assert estimated.makespan_seconds == estimated.lower_bound_seconds == 73 * 2 * 60
    assert estimated.spans[0] == [(0.0, 73 * 2 * 60)]
    assert timedelta(seconds=exact.makespan_seconds) <= timedelta(hours=2, minutes=26)
