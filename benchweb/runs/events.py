"""What happened to a run, noted for people."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.runs.models import RunEvent

_BATCH = 5_000


def event_add(*, run_id: int, text: str) -> None:
    """Note one thing that happened to a run."""
    RunEvent.objects.create(run_id=run_id, at=timezone.now(), **reason_fields("text", text))


def events_add(texts: Iterable[tuple[int, str]]) -> None:
    """Note (run id, text) for many runs."""
    now = timezone.now()
    RunEvent.objects.bulk_create(
        (RunEvent(run_id=run_id, at=now, **reason_fields("text", text)) for run_id, text in texts), _BATCH
    )


_NAMED_POSITIONS = 10
# A time of day alone is clear for so long.
_CLEAR = timedelta(hours=12)


def moment(at: datetime) -> str:
    """Return a time in UTC, with its date where the time of day alone could mean another day."""
    at = at.astimezone(UTC)
    is_clear = abs(timezone.now() - at) < _CLEAR
    return f"{at:%H:%M} UTC" if is_clear else f"{at:%Y-%m-%d %H:%M} UTC"


def run_ended(state: str, reason: str = "") -> str:
    """Say that a run came to its end, and why."""
    named = Reason(f"state_{state}")
    if reason:
        return Reason("event_run_ended_because", state=named, reason=reason)
    return Reason("event_run_ended", state=named)


def trial_ended(index: int, kind: str, state: str, reason: str) -> str:
    """Say that a trial came to its end without a whole result, and why."""
    return Reason("event_trial_ended", index=index, kind=kind, state=Reason(f"state_{state}"), reason=reason)


def position(number: int) -> str:
    """Return the position in a queue, from 1, as a word up to ten."""
    return Reason(f"position_{number}") if number <= _NAMED_POSITIONS else Reason("position", number=number)
