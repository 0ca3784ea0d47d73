"""Words for why a run waits: times and places in a queue."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
# A time of day alone is clear for so long.
_CLEAR = timedelta(hours=12)


def moment(at: datetime) -> str:
    """Return a time in UTC, with its date where the time of day alone could mean another day."""
    at = at.astimezone(UTC)
    is_clear = abs(timezone.now() - at) < _CLEAR
    return f"{at:%H:%M} UTC" if is_clear else f"{at:%Y-%m-%d %H:%M} UTC"


def place(number: int) -> str:
    """Return the place in a queue, from 1, as a word up to ten."""
    return _PLACES[number - 1] if number <= len(_PLACES) else f"number {number}"
