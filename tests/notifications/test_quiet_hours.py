"""Quiet hours and times of digests at every change of clocks of zones that differ in how they change them."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from benchweb.notifications.timing import end_of_quiet, next_time_of_day

# An hour by night, half an hour, at midnight in either direction, on the day before, by law anew each year, and never.
ZONES = (
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Havana",
    "Asia/Beirut",
    "America/St_Johns",
    "America/Santiago",
    "Africa/Casablanca",
    "Pacific/Apia",
    "UTC",
)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# Over midnight and within a day; with ends within an hour that is skipped or doubled, and a day but for minutes.
WINDOWS = [
    (time(23), time(7)),
    (time(23), time(2, 30)),
    (time(2, 30), time(6)),
    (time(2, 10), time(2, 40)),
    (time(2, 30), time(2, 15)),
    (time(23, 30), time(0, 15)),
    (time(0, 15), time(0, 45)),
    (time(22), time(0)),
    (time(1, 30), time(1, 20)),
    (time(9), time(17)),
]


def changes(zone: ZoneInfo) -> Iterator[datetime]:
    """Return the moments at which the clocks of a zone change, of fifteen years."""
    at = datetime(2011, 1, 1, tzinfo=UTC)
    while at.year < 2027:
        if (at + DAY).astimezone(zone).utcoffset() != at.astimezone(zone).utcoffset():
            yield (
                next(
                    moment
                    for moment in (at + number * MINUTE for number in range(24 * 60 + 1))
                    if (moment + MINUTE).astimezone(zone).utcoffset() != at.astimezone(zone).utcoffset()
                )
                + MINUTE
            )
        at += DAY


def around_changes(zone: ZoneInfo) -> Iterator[datetime]:
    """Return moments from a day before to a day after each change of three years."""
    for change in list(islice(changes(zone), 6)) or [datetime(2026, 3, 29, 1, tzinfo=UTC)]:
        yield from (change + number * 30 * MINUTE - MINUTE for number in range(-50, 51))


def longest(begins: time, ends: time) -> timedelta:
    """Return how long quiet hours may last: an hour is doubled, or the clocks skip all that is between two of them."""
    minutes = (ends.hour - begins.hour) * 60 + ends.minute - begins.minute
    length = timedelta(minutes=minutes % (24 * 60))
    return HOUR + (2 * length if DAY - length < HOUR else length)


@pytest.mark.parametrize("name", ZONES)
def test_quiet_hours_hold_no_longer_than_they_are_and_end_where_it_is_quiet_no_more(name: str) -> None:
    zone = ZoneInfo(name)
    for now in around_changes(zone):
        for begins, ends in WINDOWS:
            end = end_of_quiet(now, begins, ends, zone)
            if end is None:
                continue
            assert now < end <= now + longest(begins, ends), (now, begins, ends)
            assert end_of_quiet(end, begins, ends, zone) is None, (now, begins, ends)
            assert end_of_quiet(now + (end - now) / 2, begins, ends, zone) == end, (now, begins, ends)


@pytest.mark.parametrize("name", ZONES)
def test_away_from_changes_it_is_quiet_as_the_clock_says(name: str) -> None:
    zone = ZoneInfo(name)
    for now in around_changes(zone):
        offsets = {(now + hours * HOUR).astimezone(zone).utcoffset() for hours in range(-26, 27)}
        clock = now.astimezone(zone).time()
        for begins, ends in WINDOWS if len(offsets) == 1 else ():
            is_quiet = begins <= clock < ends if begins < ends else clock >= begins or clock < ends
            end = end_of_quiet(now, begins, ends, zone)
            assert (end is not None) == is_quiet, (now, begins, ends)
            assert end is None or end.astimezone(zone).time() == ends, (now, begins, ends)


@pytest.mark.parametrize("name", ZONES)
def test_a_digest_comes_once_a_day_whatever_the_clocks_do(name: str) -> None:
    zone = ZoneInfo(name)
    for at in (time(0), time(0, 0, 30), time(0, 30), time(2), time(2, 30), time(8), time(23, 30)):
        for change in islice(changes(zone), 6):
            moment, days = change - 3 * DAY, []
            while moment < change + 3 * DAY:
                moment = next_time_of_day(moment, at, zone)
                days.append(moment.astimezone(zone).date())
                # The first of an hour that there is twice, the end of one that there isn't.
                assert moment.astimezone(zone).fold == 0
            # A day that a zone left out altogether has none of its own.
            assert name == "Pacific/Apia" or sorted(set(days)) == days, (at, change)
            assert len(days) in (6, 7, 8)


@pytest.mark.parametrize(
    ("now", "ends"),
    [
        # The hour from two to three is there twice: 02:05 the second time, when 02:30 has been.
        ("2026-10-25T00:29", "2026-10-25T00:30"),
        ("2026-10-25T00:30", None),
        ("2026-10-25T01:05", None),
        # The hour is left out: 02:30 is when the clocks show three.
        ("2026-03-29T00:59", "2026-03-29T01:00"),
        ("2026-03-29T01:00", None),
    ],
)
def test_an_end_within_the_hour_that_is_doubled_or_left_out(now: str, ends: str | None) -> None:
    found = end_of_quiet(
        datetime.fromisoformat(now).replace(tzinfo=UTC), time(23), time(2, 30), ZoneInfo("Europe/Berlin")
    )
    assert found == (ends and datetime.fromisoformat(ends).replace(tzinfo=UTC))
