"""Intervals, windows, blackouts, slip, and what is refused."""

from datetime import UTC, datetime, time, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.durations import duration_seconds
from benchweb.schedules.timing.openings import DailySpan
from benchweb.schedules.timing.rules import never_fires, rule_from
from benchweb.schedules.timing.times import TimingRule, closes_at, occurrences, spread_start

START = datetime(2026, 3, 1, 0, 0, tzinfo=UTC)
BEFORE = START - timedelta(days=1)
HOUR = 3600


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def first(rule: TimingRule, count: int, after: datetime = BEFORE) -> list[str]:
    return [f"{at:%m-%d %H:%M}" for at in islice(occurrences(rule, after), count)]


def test_an_interval_is_locked_to_its_start_whenever_one_looks() -> None:
    rule = TimingRule(starts_at=utc("2026-03-01T00:07"), every_seconds=6 * HOUR)
    assert first(rule, 3) == ["03-01 00:07", "03-01 06:07", "03-01 12:07"]
    assert first(rule, 2, after=utc("2026-03-10T06:06")) == ["03-10 06:07", "03-10 12:07"]
    assert first(rule, 1, after=utc("2026-03-10T06:07")) == ["03-10 12:07"]


def test_the_end_is_the_last_time_that_may_be() -> None:
    rule = TimingRule(starts_at=START, every_seconds=HOUR, ends_at=START + timedelta(hours=2))
    assert first(rule, 9) == ["03-01 00:00", "03-01 01:00", "03-01 02:00"]


def test_a_cron_begins_at_its_start_and_not_before() -> None:
    rule = TimingRule(starts_at=utc("2026-03-05T02:00"), cron="0 2 * * *")
    assert first(rule, 2) == ["03-05 02:00", "03-06 02:00"]


def test_a_window_lets_only_times_inside_it_pass_and_its_end_is_outside() -> None:
    rule = TimingRule(starts_at=START, every_seconds=HOUR, window=rule_window("02:00", "05:00"))
    assert first(rule, 4) == ["03-01 02:00", "03-01 03:00", "03-01 04:00", "03-02 02:00"]


def rule_window(begins: str, ends: str) -> DailySpan | None:
    return rule_from(every="PT1H", starts_at=START, window={"from": begins, "until": ends}).window


def test_a_window_over_midnight_in_its_own_zone() -> None:
    rule = TimingRule(
        starts_at=START, every_seconds=HOUR, timezone="Asia/Shanghai", window=rule_window("23:00", "01:30")
    )
    assert first(rule, 4) == ["03-01 15:00", "03-01 16:00", "03-01 17:00", "03-02 15:00"]
    assert closes_at(rule, utc("2026-03-01T15:00")) == utc("2026-03-01T17:30")


def test_a_window_is_as_long_as_the_night_of_change_leaves_it() -> None:
    zone, window = "Europe/Berlin", rule_window("02:00", "06:00")
    rule = TimingRule(starts_at=START, every_seconds=HOUR // 2, timezone=zone, window=window)
    spring = list(islice(occurrences(rule, utc("2026-03-28T22:00")), 6))
    assert (spring[0], spring[-1]) == (utc("2026-03-29T01:00"), utc("2026-03-29T03:30"))
    autumn = list(islice(occurrences(rule, utc("2026-10-24T22:00")), 10))
    assert (autumn[0], autumn[-1]) == (utc("2026-10-25T00:00"), utc("2026-10-25T04:30"))


@pytest.mark.parametrize(
    ("blackout", "expected"),
    [
        ({"from": "01:00", "until": "03:00"}, ["03-01 00:00", "03-01 03:00", "03-01 04:00"]),
        ({"from": "2026-03-01", "until": "2026-03-03"}, ["03-03 00:00", "03-03 01:00", "03-03 02:00"]),
        ({"from": "2026-03-01T00:30", "until": "2026-03-01T02:30"}, ["03-01 00:00", "03-01 03:00", "03-01 04:00"]),
        (
            {"from": "2026-03-01T01:30+01:00", "until": "2026-03-01T02:30Z"},
            ["03-01 00:00", "03-01 03:00", "03-01 04:00"],
        ),
    ],
)
def test_blackouts_by_day_and_by_date(blackout: dict[str, str], expected: list[str]) -> None:
    rule = rule_from(every="PT1H", starts_at=START, blackouts=[blackout])
    assert first(rule, 3) == expected


def test_what_starts_must_be_done_by_the_window_s_end_or_the_next_blackout() -> None:
    rule = rule_from(
        cron="0 2 * * *",
        starts_at=START,
        window={"from": "02:00", "until": "06:00"},
        blackouts=[{"from": "2026-03-02T04:00", "until": "2026-03-02T05:00"}],
    )
    assert closes_at(rule, utc("2026-03-01T02:00")) == utc("2026-03-01T06:00")
    assert closes_at(rule, utc("2026-03-02T02:00")) == utc("2026-03-02T04:00")
    assert closes_at(TimingRule(starts_at=START, cron="0 2 * * *"), utc("2026-03-01T02:00")) is None


def test_a_cron_is_kept_to_the_second_unless_slip_is_allowed() -> None:
    exact = TimingRule(starts_at=START, cron="0 2 * * *", seed="a")
    assert first(exact, 2) == ["03-01 02:00", "03-02 02:00"]
    slips = set()
    for seed in range(50):
        rule = TimingRule(starts_at=START, cron="0 2 * * *", slip_seconds=1800, seed=str(seed))
        one, two = islice(occurrences(rule, BEFORE), 2)
        assert two - one == timedelta(days=1)
        assert timedelta(seconds=120) <= one - utc("2026-03-01T02:00") <= timedelta(seconds=1800)
        slips.add(one)
    assert len(slips) > 40


def test_slip_never_reaches_the_next_slot_nor_leaves_the_window() -> None:
    close = TimingRule(starts_at=START, every_seconds=60, slip_seconds=HOUR, seed="a")
    times = list(islice(occurrences(close, BEFORE), 100))
    assert all(later - earlier == timedelta(seconds=60) for earlier, later in pairwise(times))
    assert START <= times[0] <= START + timedelta(seconds=30)
    narrow = TimingRule(
        starts_at=START, cron="50 2 * * *", slip_seconds=HOUR * 20, seed="a", window=rule_window("02:00", "03:00")
    )
    assert first(narrow, 2) == ["03-01 02:50", "03-02 02:50"]


def test_slipped_times_are_the_same_whenever_one_looks() -> None:
    rule = TimingRule(starts_at=START, cron="0 * * * *", slip_seconds=1200, seed="a")
    times = list(islice(occurrences(rule, BEFORE), 20))
    for earlier, later in pairwise(times):
        assert next(occurrences(rule, earlier)) == later
        assert next(occurrences(rule, later - timedelta(seconds=1))) == later


def test_intervals_without_a_start_spread_apart_from_each_other_and_the_full_hour() -> None:
    now = utc("2026-03-01T09:58:30")
    starts = {spread_start(HOUR, str(seed), now) for seed in range(100)}
    assert len(starts) > 80
    assert all(now <= at < now + timedelta(hours=1) for at in starts)
    assert all(2 <= at.minute <= 57 or (at.minute, at.second) == (58, 0) for at in starts)
    assert spread_start(HOUR, "a", now) == spread_start(HOUR, "a", spread_start(HOUR, "a", now))
    quick = spread_start(10, "a", now)
    assert now <= quick < now + timedelta(seconds=10)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT10S", 10),
        ("PT30M", 1800),
        ("PT6H", 21_600),
        ("P1D", 86_400),
        ("P1W", 604_800),
        ("P1DT12H30M", 131_400),
        ("pt1h", 3600),
    ],
)
def test_durations_of_fixed_length_are_read(text: str, seconds: int) -> None:
    assert duration_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "P", "PT", "1h", "PT0S", "P-1D", "PT1.5H", "P1DT", "P99999999W", "PT1Hx"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(TimingError) as caught:
        duration_seconds(text)
    assert caught.value.field == "every"


@pytest.mark.parametrize("text", ["P1M", "P1Y", "P1Y2M3DT4H"])
def test_months_and_years_are_refused_with_the_way_to_say_them(text: str) -> None:
    with pytest.raises(TimingError, match=r"Months and years differ in length.*cron"):
        duration_seconds(text)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("cron", {"cron": "0 2 * *"}),
        ("cron", {"cron": "61 2 * * *"}),
        ("cron", {"cron": "0 0 30 2 *"}),
        ("cron", {"cron": "@reboot"}),
        ("cron", {"cron": "0 0 * * 1#1/2"}),
        ("cron", {"cron": "0 0 1" + ",1" * 100 + " * *"}),
        ("cron", {}),
        ("cron", {"cron": "0 2 * * *", "every": "PT1H"}),
        ("timezone", {"cron": "0 2 * * *", "timezone": "Europe/Atlantis"}),
        ("timezone", {"cron": "0 2 * * *", "timezone": "../../etc/passwd"}),
        ("timezone", {"cron": "0 2 * * *", "timezone": "Europe"}),
        ("timezone", {"cron": "0 2 * * *", "timezone": ""}),
        ("timezone", {"cron": "0 2 * * *", "timezone": "a" * 5000}),
        ("window", {"cron": "0 2 * * *", "window": {"from": "02:00", "until": "02:00"}}),
        ("window", {"cron": "0 2 * * *", "window": {"from": "2", "until": "24:00"}}),
        ("window", {"cron": "0 2 * * *", "window": {"from": "02:00"}}),
        ("blackouts", {"cron": "0 2 * * *", "blackouts": [{"from": "2026-03-02", "until": "2026-03-01"}]}),
        ("blackouts", {"cron": "0 2 * * *", "blackouts": [{"from": "tomorrow and", "until": "the day after"}]}),
        ("ends_at", {"cron": "0 2 * * *", "ends_at": START - timedelta(days=1)}),
        ("starts_at", {"cron": "0 2 * * *", "starts_at": utc("2200-01-01")}),
        ("slip_seconds", {"cron": "0 2 * * *", "slip_seconds": 90_000}),
    ],
)
def test_a_rule_that_cannot_be_names_its_field(field: str, fields: dict[str, Any]) -> None:
    with pytest.raises(TimingError) as caught:
        rule_from(**({"starts_at": START} | fields))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("cron", {"cron": "0 0 31 4 *"}),
        ("cron", {"cron": "0 0 30 2 *"}),
        ("window", {"cron": "0 3 * * *", "window": {"from": "04:00", "until": "05:00"}}),
        ("window", {"every": "P1D", "window": {"from": "04:00", "until": "05:00"}}),
        ("ends_at", {"cron": "0 3 1 6 *", "ends_at": utc("2026-04-01")}),
        (
            "blackouts",
            {
                "cron": "0 3 * * *",
                "blackouts": [{"from": "00:00", "until": "12:00"}, {"from": "12:00", "until": "00:00"}],
            },
        ),
    ],
)
def test_a_rule_that_never_fires_ends_at_once_and_names_what_stops_it(field: str, fields: dict[str, Any]) -> None:
    try:
        rule = rule_from(starts_at=START, **fields)
    except TimingError as error:
        assert (error.field, field) == ("cron", "cron")
        return
    assert list(occurrences(rule, BEFORE)) == []
    assert never_fires(rule, BEFORE).field == field


def test_a_rare_day_is_found_however_far_it_lies() -> None:
    rule = TimingRule(starts_at=START, cron="0 2 29 2 *", timezone="Europe/Berlin")
    assert [str(at) for at in islice(occurrences(rule, BEFORE), 2)] == [
        "2028-02-29 01:00:00+00:00",
        "2032-02-29 01:00:00+00:00",
    ]


def test_a_window_in_a_far_zone_is_local_not_utc() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    rule = rule_from(
        cron="0 2 * * *", timezone="Asia/Shanghai", starts_at=START, window={"from": "02:00", "until": "06:00"}
    )
    at = next(occurrences(rule, BEFORE))
    assert at.astimezone(zone).time() == time(2)
    assert closes_at(rule, at) == at + timedelta(hours=4)


def test_a_start_and_an_end_without_an_offset_are_local_times() -> None:
    rule = rule_from(
        cron="0 2 * * *",
        timezone="Europe/Berlin",
        starts_at=datetime(2026, 3, 28, 2),
        ends_at=datetime(2026, 3, 30, 2),
    )
    assert (rule.starts_at, rule.ends_at) == (utc("2026-03-28T01:00"), utc("2026-03-30T00:00"))
    assert first(rule, 9) == ["03-28 01:00", "03-29 01:00", "03-30 00:00"]
