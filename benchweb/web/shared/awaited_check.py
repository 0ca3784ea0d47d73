"""A check that a reader asked for, from page to page until a worker has recorded it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from django.http import HttpRequest
from django.utils import timezone


@dataclass(frozen=True)
class AwaitedCheck:
    """A check requested at `requested_at`, when the last recorded one was `since` (empty when there was none)."""

    requested_at: datetime
    since: str

    @classmethod
    def begun(cls, checked_at: datetime | None) -> Self:
        """Await a check from now on; the last one was recorded at `checked_at`."""
        return cls(requested_at=timezone.now(), since=_text(checked_at))

    @classmethod
    def posted(cls, request: HttpRequest) -> Self | None:
        """Read which check a panel waits for; a time that can't be read counts as none."""
        try:
            requested_at = datetime.fromtimestamp(float(request.POST.get("requested_at", "")), tz=UTC)
        except (ValueError, OverflowError, OSError):
            return None
        return cls(requested_at=requested_at, since=request.POST.get("since", ""))

    @property
    def requested_at_text(self) -> str:
        return repr(self.requested_at.timestamp())

    def is_recorded(self, checked_at: datetime | None) -> bool:
        """Compare what is recorded with what was before, not with a time: the worker's clock may differ from ours."""
        return self.since != _text(checked_at)

    def is_overdue(self, patience: timedelta) -> bool:
        return timezone.now() - self.requested_at > patience


def _text(checked_at: datetime | None) -> str:
    return checked_at.isoformat() if checked_at else ""
