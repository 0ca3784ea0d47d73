"""The hour, day, week or month that a point of a history stands for, as history_points' statement parts the time."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

# The longest that each of them is.
STEPS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=31),
}
# A day of a zone that changes its clock is an hour longer.
_CLOCK_CHANGE = timedelta(hours=1)


@dataclass(frozen=True)
class Step:
    """What each point stands for: a run, or all runs of an hour, day, week or month in the reader's zone."""

    name: str = "run"
    zone: tzinfo = UTC

    @property
    def covered(self) -> timedelta:
        """Give the time that a point stands for: none of a single run."""
        return STEPS.get(self.name, timedelta())

    def begin(self, at: datetime) -> datetime:
        """Give when the step of a time begins, in UTC; of a run it is that time."""
        if self.name not in STEPS:
            return at
        local = at.astimezone(self.zone).replace(minute=0, second=0, microsecond=0)
        if self.name != "hour":
            local = local.replace(hour=0)
        if self.name == "week":
            local -= timedelta(days=local.weekday())
        if self.name == "month":
            local = local.replace(day=1)
        return local.astimezone(UTC)

    def is_one(self, first: datetime, other: datetime) -> bool:
        """Tell whether two times are of one step."""
        if abs(other - first) > self.covered + _CLOCK_CHANGE:
            return False
        return self.begin(first) == self.begin(other)
