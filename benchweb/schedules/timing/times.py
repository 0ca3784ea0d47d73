"""Work out when a schedule comes due: pure, in UTC, ascending, each time once."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise

from django.utils.translation import gettext as _

from benchweb.schedules.defaults import MAXIMUM_SLIP_SECONDS
from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.cron import cron_check, cron_instants
from benchweb.schedules.timing.localtime import zone_of
from benchweb.schedules.timing.openings import DailySpan, Openings, Span

END_OF_TIME = datetime(2200, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A rule whose times fall outside its window this often in a row never fires: a daily one for five years.
_REFUSALS_BEFORE_GIVING_UP = 2_000
_HOUR_SECONDS = 3_600
# Starts nearer than this to the full hour meet everybody else's.
_CLEAR_OF_THE_HOUR_SECONDS = 120
_SPREAD_TRIES = 16


@dataclass(frozen=True)
class TimingRule:
    """By cron in a time zone, or every so many seconds from `starts_at`; `seed` fixes its place within the slip."""

    starts_at: datetime
    cron: str = ""
    every_seconds: int = 0
    timezone: str = "UTC"
    ends_at: datetime | None = None
    window: DailySpan | None = None
    blackouts: tuple[Span, ...] = ()
    slip_seconds: int = 0
    seed: str = ""

    @property
    def openings(self) -> Openings:
        return Openings(zone_of(self.timezone), self.window, self.blackouts)


def rule_check(rule: TimingRule) -> None:
    """Raise TimingError for a rule that can't be read; whether it ever fires is `occurrences`' to tell."""
    zone_of(rule.timezone)
    if bool(rule.cron) == bool(rule.every_seconds):
        raise TimingError("cron", _("Say when by `cron` or by `every`, one of the two."))
    if rule.cron:
        cron_check(rule.cron)
    if rule.starts_at >= END_OF_TIME:
        raise TimingError("starts_at", _("A schedule starts before the year {year}.").format(year=END_OF_TIME.year))
    if rule.ends_at and rule.ends_at < rule.starts_at:
        raise TimingError("ends_at", _("The schedule ends before it starts."))
    if not 0 <= rule.slip_seconds <= MAXIMUM_SLIP_SECONDS:
        raise TimingError(
            "slip_seconds",
            _("The slip is from 0 to {maximum_slip_seconds} s.").format(
                maximum_slip_seconds=f"{MAXIMUM_SLIP_SECONDS:,}"
            ),
        )


def occurrences(rule: TimingRule, after: datetime) -> Iterator[datetime]:
    """Return the times after `after`; ends with the rule, or when none has come for years."""
    slip = timedelta(seconds=rule.slip_seconds)
    times = _open_times(rule, max(rule.starts_at, after - slip))
    if slip:
        times = _slipped_times(rule, times)
    return (at for at in times if at > after)


def closes_at(rule: TimingRule, at: datetime) -> datetime | None:
    """Return when what starts at `at` must be done: the window's end, or the next blackout's beginning."""
    return rule.openings.closes_at(at)


def spread_start(every_seconds: int, seed: str, now: datetime) -> datetime:
    """Choose where an interval's times lie when nobody says: soon, and apart from other schedules' and full hours.

    The same seed gives the same times, so that a preview tells what saving will do.
    """
    period_seconds = min(every_seconds, _HOUR_SECONDS)
    first = _EPOCH + timedelta(seconds=_seconds_off_hours(seed, period_seconds, period_seconds, _EPOCH))
    period = timedelta(seconds=period_seconds)
    return first - (first - now) // period * period


def _open_times(rule: TimingRule, start: datetime) -> Iterator[datetime]:
    openings = rule.openings
    times = _times(rule, start)
    refused = 0
    while refused < _REFUSALS_BEFORE_GIVING_UP:
        at = next(times, END_OF_TIME)
        if at >= END_OF_TIME or (rule.ends_at and at > rule.ends_at):
            return
        opens = openings.opens_at(at)
        if opens == at:
            refused = 0
            yield at
        else:
            refused += 1
            times = _times(rule, opens)


def _times(rule: TimingRule, start: datetime) -> Iterator[datetime]:
    if rule.cron:
        yield from cron_instants(rule.cron, zone_of(rule.timezone), start)
        return
    every = timedelta(seconds=rule.every_seconds)
    at = rule.starts_at + max(0, -((rule.starts_at - start) // every)) * every
    while at < END_OF_TIME:
        yield at
        at += every


def _slipped_times(rule: TimingRule, times: Iterator[datetime]) -> Iterator[datetime]:
    """Move each time by the same part of the slip; never half-way to the next, nor out of its opening."""
    openings = rule.openings
    spread = timedelta(seconds=_spread_seconds(rule))
    for at, following in pairwise(chain(times, [END_OF_TIME])):
        room = timedelta(seconds=(following - at) // timedelta(seconds=2))
        moved = at + min(spread, room)
        closes = openings.closes_at(at)
        ends = rule.ends_at or END_OF_TIME
        yield moved if moved <= ends and (closes is None or moved < closes) else at


def _spread_seconds(rule: TimingRule) -> int:
    if rule.cron:
        return _seconds_off_hours(rule.seed, rule.slip_seconds + 1, _HOUR_SECONDS, _EPOCH)
    return _seconds_off_hours(rule.seed, rule.slip_seconds + 1, min(rule.every_seconds, _HOUR_SECONDS), rule.starts_at)


def _seconds_off_hours(seed: str, below: int, period: int, base: datetime) -> int:
    """Choose a number of seconds below `below` that moves `base` away from full hours, or what divides them."""
    clear = min(_CLEAR_OF_THE_HOUR_SECONDS, period // 4)
    seconds = 0
    for attempt in range(_SPREAD_TRIES):
        digest = hashlib.sha256(f"{attempt}/{seed}".encode()).digest()
        seconds = int.from_bytes(digest[:8], "big") % below
        past = (base + timedelta(seconds=seconds)).timestamp() % period
        if clear <= past <= period - clear:
            break
    return seconds
