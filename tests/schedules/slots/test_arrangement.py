"""How the runs of a schedule's campaigns follow each other: chosen, checked, foretold and launched."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchweb.hosts.models import Pair
from benchweb.runs.models import Campaign
from benchweb.schedules.forecasts.feasibility import Feasibility, feasibility
from benchweb.schedules.forecasts.joint import GanttBar
from benchweb.schedules.models import Slot
from benchweb.schedules.services import ScheduleError, run_now, schedule_create, schedule_draft, schedule_update
from benchweb.schedules.slots.launching import slot_begin
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2040, 1, 2, tzinfo=UTC)
# With the second that every test takes for its connections: a minute.
MINUTE = [{"kind": "tcp_stream", "params": {"duration_seconds": 59}}]


def incast(count: int) -> dict[str, Any]:
    sink = make_endpoint(host_name="sink")
    return {"pairs": [make_pair(sink=sink).pk for _ in range(count)]}


def foretold(**fields: Any) -> Feasibility:
    nightly = {"name": "nightly", "cron": "0 2 * * *", "starts_at": MIDNIGHT}
    return feasibility(schedule_draft(**nightly | {"plan": make_plan(steps=MINUTE, repetitions=3)} | fields), MIDNIGHT)


@pytest.mark.parametrize("arrangement", ["runs", "rounds", "together"])
def test_a_slot_launches_as_its_schedule_says(arrangement: str) -> None:
    schedule = make_schedule(target=incast(2), arrangement=arrangement)
    run_now(schedule=schedule, user=None)
    assert Campaign.objects.get().arrangement == arrangement
    assert Slot.objects.get().reason == ""


def test_in_rounds_a_campaign_takes_as_long_and_a_run_as_long_as_all_rounds() -> None:
    target = incast(2)
    window = {"from": "02:00", "until": "02:05"}
    alike = [foretold(target=target, arrangement=each) for each in ("runs", "rounds")]
    assert [each.makespan_seconds for each in alike] == [360, 360]
    short = foretold(target=target, arrangement="rounds", window=window)
    # The first run's last turn is over after five minutes, the second's after six.
    assert short.reason == (
        "All runs take 6 min, but from 02:00 until its time closes at 02:05 UTC there are 5 min: "
        "1 of 2 runs would not start."
    )
    assert foretold(target=target, arrangement="rounds", deadline_seconds=60).fits
    assert not foretold(target=target, arrangement="runs", deadline_seconds=60).fits


def test_together_takes_as_long_as_one_run_and_holds_all_hosts() -> None:
    result = foretold(target=incast(3), arrangement="together")
    assert (result.fits, result.runs, result.makespan_seconds, result.lower_bound_seconds) == (True, 3, 180, 180)
    ends = MIDNIGHT + timedelta(hours=2, minutes=3)
    assert len(result.bars) == 4
    assert GanttBar("nightly", "host sink", MIDNIGHT + timedelta(hours=2), ends, True) in result.bars
    late = foretold(target={"pairs": _pairs()}, arrangement="together", window={"from": "02:00", "until": "02:02"})
    assert late.reason.startswith("One run takes up to 3 min")


def test_others_are_compared_by_their_own_arrangement() -> None:
    target = incast(3)
    starts_at = MIDNIGHT + timedelta(minutes=4)
    plan = make_plan(steps=MINUTE, repetitions=3)
    other = make_schedule(plan=plan, target=target, cron="0 2 * * *", starts_at=MIDNIGHT, arrangement="together")
    own = {"target": target, "cron": "4 2 * * *", "starts_at": starts_at, "plan": plan}
    assert foretold(**own).conflict is None
    schedule_update(schedule=other, arrangement="runs")
    conflict = foretold(**own).conflict
    assert conflict is not None and conflict.until == MIDNIGHT + timedelta(hours=2, minutes=9)


def test_in_rounds_a_run_begins_early_enough_for_the_last_round() -> None:
    at = MIDNIGHT + timedelta(hours=2)
    window = {"from": "02:00", "until": "02:10"}
    plan = make_plan(steps=MINUTE, repetitions=3)
    for arrangement, minutes in (("runs", 7), ("rounds", 5)):
        target = {"pairs": [make_pair().pk for _ in range(2)]} if arrangement == "runs" else incast(2)
        schedule = make_schedule(plan=plan, target=target, arrangement=arrangement, window=window, name=arrangement)
        slot = Slot.objects.create(schedule=schedule, at=at, claimed_at=at)
        slot_begin(schedule=schedule, slot=slot, now=at, user=None)
        assert slot.campaign is not None
        assert slot.campaign.start_before == at + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"arrangement": "backwards"}, "arrangement is one of runs, rounds, together"),
        ({"arrangement": "together", "target": "apart"}, "have one sink, and these have several"),
        ({"arrangement": "together", "target": "one"}, "2 to 32 pairs with one sink"),
    ],
)
def test_what_can_not_be_launched_so_is_refused_when_it_is_saved(fields: dict[str, Any], words: str) -> None:
    targets = {"apart": {"pairs": [make_pair().pk, make_pair().pk]}, "one": {"pairs": [make_pair().pk]}}
    target = targets[fields.get("target", "one")]
    nightly: dict[str, Any] = {"name": "nightly", "plan": make_plan(), "cron": "0 2 * * *"}
    with pytest.raises(ScheduleError, match=words) as caught:
        schedule_create(**nightly | fields | {"target": target})
    assert caught.value.field == "arrangement"
    schedule = make_schedule(target=target)
    with pytest.raises(ScheduleError, match=words):
        schedule_update(schedule=schedule, arrangement=fields["arrangement"])
    schedule.refresh_from_db()
    assert schedule.arrangement == "runs"


def _pairs() -> list[int]:
    return list(Pair.objects.order_by("pk").values_list("pk", flat=True)[:2])
