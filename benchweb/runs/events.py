"""What happened to a run, noted for people."""

from collections.abc import Iterable

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
