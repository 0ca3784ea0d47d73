"""A zone's rules change while times are planned by the old ones: those to come follow, once each; none is lost."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.services import claim_due, follow_zones, schedule_pause, schedule_resume, schedule_update
from benchweb.schedules.timing.localtime import zone_of
from benchweb.schedules.timing.rules import rule_of
from tests.factories import make_schedule
from tests.schedules.slots.zone_rules import ZONE, Zones
from workers import ticking

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# Three hours ahead of UTC; by the new law two, or four in summer.
BEFORE, LATER, EARLIER = "<+03>-3", "<+02>-2", "<+03>-3<+04>-4,M3.5.0,M10.5.0"
LAWS = {LATER: HOUR, EARLIER: -HOUR}
# 02:00 there, by the rules of before.
FIRST = datetime(2040, 6, 1, 23, tzinfo=UTC)


def planned(zones: Zones, **fields: Any) -> Schedule:
    """Make a schedule by the rules of before."""
    zones.enact(BEFORE)
    return make_schedule(**{"timezone": ZONE, "starts_at": FIRST - DAY / 2} | fields)


def next_at(schedule: Schedule) -> datetime | None:
    schedule.refresh_from_db()
    return schedule.next_at


@pytest.mark.parametrize(("law", "moved"), LAWS.items())
@pytest.mark.parametrize("cron", ["0 2 * * *", "0 2 1 1 *", "30 2 * * mon"])
def test_a_time_that_has_not_come_is_as_the_clocks_will_show_it(
    zones: Zones, law: str, moved: timedelta, cron: str
) -> None:
    schedule = planned(zones, cron=cron)
    before = next_at(schedule)
    assert before is not None
    zones.enact(law)
    assert claim_due(FIRST - DAY) == 0
    is_winter = before.month == 12
    assert follow_zones() == int(not (is_winter and law == EARLIER))
    after = next_at(schedule)
    assert after == (before if is_winter and law == EARLIER else before + moved)
    assert after is not None and after.astimezone(zone_of(ZONE)).hour == 2
    assert follow_zones() == 0


@pytest.mark.parametrize(("law", "moved"), LAWS.items())
@pytest.mark.parametrize("known_after_hours", [0.25, 0.75, 1.5, 12, 22.5, 23.25, 23.75])
def test_whenever_the_law_is_known_each_day_has_one_slot(
    zones: Zones, law: str, moved: timedelta, known_after_hours: float
) -> None:
    schedule = planned(zones, cron="0 2 * * *", missed="run_once")
    known_at = FIRST + known_after_hours * HOUR
    for now in moments(FIRST - DAY, known_at):
        claim_due(now)
    zones.enact(law)
    follow_zones()
    for now in moments(known_at, FIRST + 3 * DAY + 2 * HOUR):
        claim_due(now)
    times = list(Slot.objects.order_by("at").values_list("at", flat=True))
    assert times == [FIRST, *(FIRST + day * DAY + moved for day in (1, 2, 3))]
    assert not Slot.objects.filter(state="missed").exists()
    assert next_at(schedule) == FIRST + 4 * DAY + moved


def moments(begin: datetime, end: datetime) -> Iterator[datetime]:
    """Return when ticks are that find something or not: every half hour."""
    while begin < end:
        yield begin
        begin += HOUR / 2


@pytest.mark.parametrize(("law", "moved"), LAWS.items())
def test_an_interval_goes_on_as_hours_pass_and_its_window_follows(zones: Zones, law: str, moved: timedelta) -> None:
    within = planned(zones, every="PT1H", starts_at=FIRST, window={"from": "02:00", "until": "04:00"})
    everywhen = make_schedule(every="PT1H", timezone=ZONE, starts_at=FIRST)
    claim_due(FIRST)
    claim_due(FIRST + HOUR)
    assert next_at(within) == FIRST + DAY
    zones.enact(law)
    follow_zones()
    # By the later law the window is open for another hour, by the earlier one it has opened before.
    assert next_at(within) == (FIRST + 2 * HOUR if law == LATER else FIRST + DAY + moved)
    assert next_at(everywhen) == FIRST + 2 * HOUR


@pytest.mark.parametrize("law", LAWS)
def test_an_expression_that_counts_hours_skips_none(zones: Zones, law: str) -> None:
    schedule = planned(zones, cron="*/30 * * * *", starts_at=FIRST)
    claim_due(FIRST)
    zones.enact(law)
    assert follow_zones() == 0
    assert next_at(schedule) == FIRST + HOUR / 2


def test_blackouts_follow_by_the_day_and_by_date(zones: Zones) -> None:
    blackouts = [{"from": "02:00", "until": "03:00"}, {"from": "2040-06-05T10:00", "until": "2040-06-05T12:00"}]
    schedule = planned(zones, every="PT1H", starts_at=FIRST, blackouts=blackouts)
    assert next_at(schedule) == FIRST + HOUR
    zones.enact(LATER)
    assert follow_zones() == 1
    # An hour before it is 01:00 now, and open.
    assert next_at(schedule) == FIRST
    dated = rule_of(schedule).openings
    assert dated.opens_at(datetime(2040, 6, 5, 8, tzinfo=UTC)) == datetime(2040, 6, 5, 10, tzinfo=UTC)


def test_without_another_law_nothing_moves_not_even_what_was_set_by_hand(zones: Zones) -> None:
    schedule = planned(zones, cron="0 2 * * *")
    Schedule.objects.update(next_at=FIRST - 5 * HOUR)
    assert follow_zones() == 0
    assert next_at(schedule) == FIRST - 5 * HOUR


def test_what_an_older_version_planned_follows_from_the_first_look_on(zones: Zones) -> None:
    schedule = planned(zones, cron="0 2 * * *")
    Schedule.objects.update(counted_from=None, counted_offset_seconds=None, next_offset_seconds=None)
    assert follow_zones() == 0
    zones.enact(LATER)
    assert follow_zones() == 1
    assert next_at(schedule) == FIRST + HOUR


def test_edited_paused_and_resumed_it_follows_too(zones: Zones) -> None:
    schedule = planned(zones, cron="0 3 * * *")
    schedule_update(schedule=schedule, cron="0 2 * * *")
    schedule_pause(schedule=schedule)
    zones.enact(LATER)
    assert follow_zones() == 0
    schedule_resume(schedule=schedule)
    assert next_at(schedule) == FIRST + HOUR
    zones.enact(BEFORE)
    assert follow_zones() == 1
    assert next_at(schedule) == FIRST


def test_the_tick_reads_the_rules_anew_before_it_makes_slots(zones: Zones) -> None:
    schedule = planned(zones, cron="0 2 * * *")
    zones.enact(EARLIER, is_known=False)
    assert zone_of(ZONE).utcoffset(datetime(2040, 6, 1)) == 3 * HOUR
    ticking.follow_zones()
    assert next_at(schedule) == FIRST + LAWS[EARLIER]
    names = [step.__name__ for step in ticking.STEPS]
    assert names.index("follow_zones") < names.index("begin_waiting") < names.index("claim_due")
