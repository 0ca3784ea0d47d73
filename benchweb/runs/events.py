"""What happened to a run, noted for people."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from benchweb.runs.models import RunEvent

_BATCH = 5_000


def event_add(*, run_id: int, text: str) -> None:
    """Note one thing that happened to a run."""
    RunEvent.objects.create(run_id=run_id, at=timezone.now(), text=text)


def events_add(texts: Iterable[tuple[int, str]]) -> None:
    """Note (run id, text) for many runs."""
    now = timezone.now()
    RunEvent.objects.bulk_create((RunEvent(run_id=run_id, at=now, text=text) for run_id, text in texts), _BATCH)


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
# A time of day alone is clear for so long.
_CLEAR = timedelta(hours=12)


def moment(at: datetime) -> str:
    """Return a time in UTC, with its date where the time of day alone could mean another day."""
    at = at.astimezone(UTC)
    is_clear = abs(timezone.now() - at) < _CLEAR
    return f"{at:%H:%M} UTC" if is_clear else f"{at:%Y-%m-%d %H:%M} UTC"


def ordinal(number: int) -> str:
    """Return the place in a queue, from 1, as a word up to ten."""
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"number {number}"
