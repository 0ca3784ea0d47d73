"""Two years in four zones: every slot where it should be, none doubled or dropped.

What is expected is computed from zoneinfo alone, by looking at what a clock shows every five minutes of two years.
"""

from bisect import bisect_right
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from benchweb.schedules.timing.times import TimingRule, occurrences

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"]
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
LAST = datetime(2027, 12, 31, tzinfo=UTC)
STEP = timedelta(minutes=5)
DAYS = 728


@cache
def clock(zone: str) -> list[tuple[datetime, datetime]]:
    """Return what the clock shows, every five minutes: (shown, instant)."""
    steps = int((LAST - FIRST) / STEP)
    instants = (FIRST + number * STEP for number in range(steps + 1))
    return [(at.astimezone(ZoneInfo(zone)).replace(tzinfo=None), at) for at in instants]


@cache
def found(cron: str, zone: str) -> list[datetime]:
    rule = TimingRule(starts_at=FIRST, cron=cron, timezone=zone)
    return list(takewhile(lambda at: at <= LAST, occurrences(rule, FIRST - timedelta(seconds=1))))


def first_shown(zone: str, times: list[time]) -> list[datetime]:
    """Give, for each local day and time, the first instant at which the clock shows it or has passed it."""
    instants = set()
    shown = clock(zone)
    position = 0
    for day in range(-1, 731):
        for wanted in (datetime.combine(date(2026, 1, 1) + timedelta(days=day), each) for each in times):
            while position < len(shown) and shown[position][0] < wanted:
                position += 1
            if wanted >= shown[0][0] and position < len(shown):
                instants.add(shown[position][1])
    return sorted(instants)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("cron", "times"),
    [
        ("0 2 * * *", [time(2)]),
        ("30 2 * * *", [time(2, 30)]),
        ("15 2 * * *", [time(2, 15)]),
        ("30 1 * * *", [time(1, 30)]),
        ("45 1 * * *", [time(1, 45)]),
        ("0 3 * * *", [time(3)]),
        ("0,30 2 * * *", [time(2), time(2, 30)]),
        ("0 1-3 * * *", [time(1), time(2), time(3)]),
        ("*/15 2 * * *", [time(2), time(2, 15), time(2, 30), time(2, 45)]),
        ("30 */2 * * *", [time(hour, 30) for hour in range(0, 24, 2)]),
        ("0 */3 * * *", [time(hour) for hour in range(0, 24, 3)]),
    ],
)
def test_a_time_of_day_comes_once_a_day_at_its_first_or_next_instant(zone: str, cron: str, times: list[time]) -> None:
    slots = found(cron, zone)
    assert slots == sorted(set(slots))
    assert slots == first_shown(zone, times)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("cron", ["0 2 * * *", "30 2 * * *", "30 1 * * *", "45 1 * * *"])
def test_each_local_day_of_two_years_has_exactly_one_nightly_slot(zone: str, cron: str) -> None:
    days = [at.astimezone(ZoneInfo(zone)).date() for at in found(cron, zone)]
    assert len(days) >= DAYS
    assert all(later - earlier == timedelta(days=1) for earlier, later in pairwise(days))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("cron", "minutes"),
    [("0 * * * *", {0}), ("30 * * * *", {30}), ("*/15 * * * *", {0, 15, 30, 45})],
)
def test_an_hourly_pattern_comes_whenever_the_clock_shows_its_minute(zone: str, cron: str, minutes: set[int]) -> None:
    assert found(cron, zone) == [at for shown, at in clock(zone) if shown.minute in minutes]


def changes() -> list[tuple[str, ...]]:
    """Read the days of change that docs/reference/schedules.md has written down by hand."""
    lines = (Path(__file__).parents[2] / "docs" / "reference" / "schedules.md").read_text(encoding="utf-8").splitlines()
    rows = [tuple(cell.strip(" `") for cell in line.strip("|").split("|")) for line in lines if "`" in line]
    return [row for row in rows if len(row) == 5 and row[0] in ZONES]


@pytest.mark.parametrize(("zone", "cron", "day", "utc", "shown"), changes())
def test_the_days_of_change_are_as_the_documentation_has_them_by_hand(
    zone: str, cron: str, day: str, utc: str, shown: str
) -> None:
    of_day = [at for at in found(cron, zone) if str(at.astimezone(ZoneInfo(zone)).date()) == day]
    assert [at.strftime("%Y-%m-%d %H:%M") for at in of_day] == [utc]
    assert of_day[0].astimezone(ZoneInfo(zone)).strftime("%H:%M") == shown


@pytest.mark.parametrize("zone", ZONES)
def test_an_interval_knows_no_daylight_saving(zone: str) -> None:
    start = datetime(2026, 1, 1, 0, 7, tzinfo=UTC)
    rule = TimingRule(starts_at=start, every_seconds=6 * 3600, timezone=zone)
    slots = list(takewhile(lambda at: at <= LAST, occurrences(rule, FIRST)))
    assert slots == [start + number * timedelta(hours=6) for number in range(len(slots))]
    assert len(slots) == 729 * 4


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("cron", ["30 2 * * *", "*/15 * * * *", "30 */2 * * *", "*/15 1,2 * * *"])
def test_where_one_begins_to_look_changes_nothing(zone: str, cron: str) -> None:
    slots = found(cron, zone)
    rule = TimingRule(starts_at=FIRST, cron=cron, timezone=zone)
    for change in TRANSITIONS:
        for minutes in range(-120, 121, 10):
            after = change + timedelta(minutes=minutes)
            assert next(occurrences(rule, after)) == slots[bisect_right(slots, after)]


TRANSITIONS = [
    datetime.fromisoformat(text).replace(tzinfo=UTC)
    for text in (
        "2026-03-08T07:00", "2026-03-29T01:00", "2026-04-04T15:00",
        "2026-10-03T15:30", "2026-10-25T01:00", "2026-11-01T06:00",
    )
]  # fmt: skip


def test_midnight_that_a_zone_skips_is_one_oclock_of_the_same_day() -> None:
    # Cairo's clocks go from 24:00 on Thursday to 01:00 on Friday, 24 April 2026.
    (slot,) = [at for at in found("0 0 * * *", "Africa/Cairo") if at.date() in (date(2026, 4, 23),) and at.hour >= 20]
    assert slot.astimezone(ZoneInfo("Africa/Cairo")).strftime("%Y-%m-%d %H:%M") == "2026-04-24 01:00"


def test_the_documentation_has_a_row_of_every_zone_and_both_kinds_of_change() -> None:
    assert {row[0] for row in changes()} == set(ZONES)
    assert len(changes()) == 23
