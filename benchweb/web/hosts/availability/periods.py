"""The periods that a host's availability is shown of, and how their time is divided."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class LookBack:
    """A look back; a point of its charts is a `step` long, a cell of its strip a part of one."""

    key: str
    english: str
    length: timedelta
    step: timedelta
    cells_per_step: int = 1

    @property
    def label(self) -> str:
        return _(self.english)

    def begin(self, now: datetime) -> datetime:
        """Return when it begins."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        # Steps of several hours begin at midnight UTC, so that one keeps its place as time goes on.
        midnight = hour.replace(hour=0)
        return midnight + (hour - self.length - midnight) // self.step * self.step

    def steps(self, now: datetime) -> list[datetime]:
        """Return the starts of its steps, and the end of the last one."""
        return _starts(self.begin(now), now, self.step)

    def cells(self, now: datetime) -> list[datetime]:
        """Return the starts of its strip's cells, and the end of the last one."""
        return _starts(self.begin(now), now, self.step / self.cells_per_step)


def _starts(begin: datetime, now: datetime, length: timedelta) -> list[datetime]:
    count = -((begin - now) // length)
    return [begin + number * length for number in range(count + 1)]


PERIODS = (
    LookBack("24h", gettext_noop("24 hours"), timedelta(hours=24), _HOUR, cells_per_step=4),
    LookBack("7d", gettext_noop("7 days"), timedelta(days=7), 2 * _HOUR),
    LookBack("30d", gettext_noop("30 days"), timedelta(days=30), 6 * _HOUR),
)


def period_of(over: str) -> LookBack:
    """Return the period that an address asks for; an unknown one is the first."""
    return next((period for period in PERIODS if period.key == over), PERIODS[0])
