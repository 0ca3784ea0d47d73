"""Work out when a schedule may run: inside its window, outside its blackouts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from benchweb.schedules.defaults import MAXIMUM_BLACKOUTS
from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.localtime import instant, reading

# A day's span may be empty where the clocks skip it; two days in a row never are.
_DAYS_AROUND = range(-1, 4)


@dataclass(frozen=True)
class DailySpan:
    """Local times of day; over midnight when it ends before it begins."""

    begins: time
    ends: time


@dataclass(frozen=True)
class DatedSpan:
    """A span from one instant to another."""

    begins: datetime
    ends: datetime


Span = DailySpan | DatedSpan


@dataclass(frozen=True)
class Openings:
    """A zone's window (None is always) and the blackouts in it."""

    zone: ZoneInfo
    window: DailySpan | None = None
    blackouts: tuple[Span, ...] = ()

    def opens_at(self, at: datetime) -> datetime:
        """Return `at` when it is open then, else the end of what is in the way first."""
        if self.window:
            opens, _ = _span_of_day(self.window, at, self.zone)
            if at < opens:
                return opens
        for blackout in self.blackouts:
            span = _next_span(blackout, at, self.zone)
            if span and span[0] <= at:
                return span[1]
        return at

    def closes_at(self, at: datetime) -> datetime | None:
        """Return when the opening that `at` is in ends; None when it never does."""
        spans = (_next_span(blackout, at, self.zone) for blackout in self.blackouts)
        ends = [span[0] for span in spans if span]
        if self.window:
            ends.append(_span_of_day(self.window, at, self.zone)[1])
        return min(ends, default=None)


def window_of(values: Mapping[str, Any] | None) -> DailySpan | None:
    """Read {"from": "02:00", "until": "06:00"}; raise TimingError."""
    if not values:
        return None
    begins, ends = (_time_of_day(values.get(key), "window") for key in ("from", "until"))
    if begins == ends:
        raise TimingError("window", _("A window ends at another time than it begins: leave it out for the whole day."))
    return DailySpan(begins, ends)


def blackouts_of(values: Sequence[Mapping[str, Any]], zone: ZoneInfo) -> tuple[Span, ...]:
    """Read [{"from", "until"}], each of two times of day or two dates with or without a time; raise TimingError."""
    if len(values) > MAXIMUM_BLACKOUTS:
        raise TimingError(
            "blackouts",
            _("{values} blackouts; at most {maximum_blackouts} are possible.").format(
                values=f"{len(values):,}", maximum_blackouts=MAXIMUM_BLACKOUTS
            ),
        )
    return tuple(_blackout(value, zone) for value in values)


def _next_span(span: Span, at: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    if isinstance(span, DailySpan):
        return _span_of_day(span, at, zone)
    return (span.begins, span.ends) if span.ends > at else None


def _span_of_day(span: DailySpan, at: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the span that is under way at `at`, or the next."""
    today = reading(at, zone).date()
    over_midnight = timedelta(days=int(span.ends <= span.begins))
    for days in _DAYS_AROUND:
        day = today + timedelta(days=days)
        begins = instant(datetime.combine(day, span.begins), zone)
        ends = instant(datetime.combine(day + over_midnight, span.ends), zone)
        if ends > at and ends > begins:
            return begins, ends
    raise AssertionError(
        _("no {span} near {at}: a zone skipped {days_around} days").format(
            span=span, at=at, days_around=len(_DAYS_AROUND)
        )
    )


def _blackout(value: Mapping[str, Any], zone: ZoneInfo) -> Span:
    texts = [str(value.get(key, "")).strip() for key in ("from", "until")]
    if all(len(text) <= len("00:00:00") for text in texts):
        begins, ends = (_time_of_day(text, "blackouts") for text in texts)
        if begins == ends:
            raise TimingError("blackouts", _("A blackout ends at another time than it begins."))
        return DailySpan(begins, ends)
    first, last = (_instant_of_text(text, zone) for text in texts)
    if first >= last:
        raise TimingError(
            "blackouts",
            _("The blackout from {texts} ends before it begins, at {texts_2}.").format(
                texts=texts[0], texts_2=texts[1]
            ),
        )
    return DatedSpan(first, last)


def _time_of_day(value: Any, field: str) -> time:
    try:
        # 02:00 and 02:00:00; ISO's other spellings are taken for mistakes.
        parsed = time.fromisoformat(str(value)) if ":" in str(value) else None
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo or parsed.microsecond:
        raise TimingError(
            field,
            _("{value} is no time of day in the schedule's zone, such as 02:00.").format(value=f"{str(value)[:60]!r}"),
        )
    return parsed


def _instant_of_text(text: str, zone: ZoneInfo) -> datetime:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise TimingError(
            "blackouts",
            _("{text} is no date with or without a time, such as 2026-12-24 or 2026-12-24T18:00.").format(
                text=f"{text[:60]!r}"
            ),
        ) from error
    return parsed.astimezone(UTC) if parsed.tzinfo else instant(parsed, zone)
