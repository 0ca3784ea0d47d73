"""Say whether a campaign has time enough at one of its schedule's times, and by which change it would."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.utils.translation import gettext as _

from benchweb.schedules.forecasts.forecast import Forecast
from benchweb.schedules.time_texts import duration_text, time_text

_MINUTE_SECONDS = 60
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Room:
    """The limits of the campaign that begins `at`; None where there is none."""

    at: datetime
    # All runs must be over by then: the end of the window, or the next blackout.
    closes: datetime | None
    # All runs must have begun by then.
    deadline: datetime | None
    # When the schedule's next campaign begins.
    next_at: datetime | None
    # The zone in which times are said.
    zone: str

    @property
    def seconds(self) -> float | None:
        """Return for how long the hosts can be had."""
        ends = min((end for end in (self.closes, self.next_at) if end), default=None)
        return (ends - self.at).total_seconds() if ends else None


@dataclass(frozen=True)
class Remedy:
    """A change, and how large it is beside what there is now."""

    size: float
    text: str


@dataclass(frozen=True)
class Shortage:
    """The reason that a campaign doesn't fit, and the changes each of which alone makes it fit, the smallest first."""

    reason: str
    changes: list[Remedy]


def shortage(room: Room, expected: Forecast, repetitions: int) -> Shortage | None:
    """Return what keeps the campaign from fitting, or None; `repetitions` are those that its runs make at most."""
    return (
        _window_shortage(room, expected, repetitions)
        or _deadline_shortage(room, expected, repetitions)
        or _interval_shortage(room, expected, repetitions)
    )


def _window_shortage(room: Room, expected: Forecast, repetitions: int) -> Shortage | None:
    if room.closes is None:
        return None
    takes, one = expected.makespan_seconds, expected.run_seconds
    available = (room.closes - room.at).total_seconds()
    if takes <= available + _ROUNDING:
        return None
    begins = time_text(room.at, room.zone).removesuffix(f" {room.zone}")
    there = _("from {begins} until its time closes at {closes} there are {available}").format(
        begins=begins, closes=time_text(room.closes, room.zone), available=_text(available)
    )
    late = _count_late(expected, available)
    if one > available + _ROUNDING:
        reason = _("One run takes up to {one}, but {there}.").format(one=_text(one), there=there)
    else:
        reason = _("All runs take {takes}, but {there}: {late} would not start.").format(
            takes=_text(takes), there=there, late=_share_text(late, expected)
        )
    missing = _minutes(takes - available)
    until = time_text(room.closes + timedelta(minutes=missing), room.zone)
    longer = Remedy(
        (takes - available) / available,
        _("give it {missing} min more, until {until}").format(missing=f"{missing:,}", until=until),
    )
    return _shortage(reason, longer, *_fewer_runs(expected, repetitions, available / takes, late))


def _deadline_shortage(room: Room, expected: Forecast, repetitions: int) -> Shortage | None:
    if room.deadline is None:
        return None
    last_begins = expected.makespan_seconds - expected.run_seconds
    available = (room.deadline - room.at).total_seconds()
    if last_begins <= available + _ROUNDING:
        return None
    late = _count_late(expected, available + expected.run_seconds)
    reason = _(
        "The last run begins {last_begins} after the first, but all must begin within {available}: {late} "
        "would not start."
    ).format(last_begins=_text(last_begins), available=_text(available), late=_share_text(late, expected))
    later = Remedy(
        last_begins / available - 1,
        _("give its runs {last_begins} min to begin").format(last_begins=f"{_minutes(last_begins):,}"),
    )
    return _shortage(reason, later, *_fewer_runs(expected, repetitions, available / last_begins, late))


def _interval_shortage(room: Room, expected: Forecast, repetitions: int) -> Shortage | None:
    if room.next_at is None:
        return None
    takes = expected.makespan_seconds
    available = (room.next_at - room.at).total_seconds()
    if takes <= available + _ROUNDING:
        return None
    reason = _("A slot follows {available} after the one before, but a campaign takes {takes}.").format(
        available=_text(available), takes=_text(takes)
    )
    rarer = Remedy(
        takes / available - 1, _("leave at least {takes} min between two slots").format(takes=f"{_minutes(takes):,}")
    )
    return _shortage(
        reason, rarer, *_fewer_runs(expected, repetitions, available / takes, _count_late(expected, available))
    )


def _shortage(reason: str, *changes: Remedy) -> Shortage:
    return Shortage(reason, sorted(changes, key=lambda change: change.size))


def _fewer_runs(expected: Forecast, repetitions: int, part: float, late: int) -> list[Remedy]:
    """Return how many repetitions, or how many of the pairs (`late` are too many), fit into that part of the time."""
    changes = []
    # A run is as long as it has repetitions, and so is the campaign.
    enough = int(repetitions * part + _ROUNDING)
    if 1 <= enough < repetitions:
        changes.append(
            Remedy(
                1 - enough / repetitions,
                _("repeat {enough} in place of {repetitions} times").format(
                    enough=f"{enough:,}", repetitions=f"{repetitions:,}"
                ),
            )
        )
    count = len(expected.jobs)
    if 0 < late < count:
        changes.append(
            Remedy(
                late / count,
                _("run on {text} of the {count} pairs").format(text=f"{count - late:,}", count=f"{count:,}"),
            )
        )
    return changes


def _count_late(expected: Forecast, available_seconds: float) -> int:
    """Count the runs that are not over by then."""
    if expected.is_estimated:
        return ceil(len(expected.jobs) * (1 - min(1.0, available_seconds / expected.makespan_seconds)))
    last_start = available_seconds - expected.run_seconds + _ROUNDING
    return sum(run.start_seconds > last_start for run in expected.placed)


def _share_text(late: int, expected: Forecast) -> str:
    # Runs that start together are one job.
    runs_late = late * expected.runs // len(expected.jobs)
    return _("{late} of {jobs} runs").format(late=f"{runs_late:,}", jobs=f"{expected.runs:,}")


def _text(seconds: float) -> str:
    return duration_text(timedelta(seconds=seconds))


def _minutes(seconds: float) -> int:
    return ceil(round(seconds / _MINUTE_SECONDS, 6))
