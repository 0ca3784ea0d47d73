"""Learn a series' noise when people call its alert noise, and forget it when they reopen that."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict

from benchweb.regressions.deciding import LARGEST_FLOOR_RATIO
from benchweb.regressions.models import Alert, SeriesNoise


class Taught(TypedDict):
    """A floor that was raised: what it was before, None for none, and what it is since."""

    before: float | None
    floor: float


def teach_noise(alert: Alert, now: datetime) -> dict[str, Taught]:
    """Raise the floor of an alert's series to its changes; return by series what was raised."""
    taught: dict[str, Taught] = {}
    for part in alert.series.filter(threshold=None).exclude(difference_ratio=None):
        floor = min(abs(part.difference_ratio or 0.0), LARGEST_FLOOR_RATIO)
        noise, is_new = SeriesNoise.objects.get_or_create(
            series_id=part.series_id, defaults={"floor_ratio": floor, "taught_at": now}
        )
        lower = SeriesNoise.objects.filter(pk=noise.pk, floor_ratio__lt=floor)
        if is_new or lower.update(floor_ratio=floor, taught_at=now):
            taught[str(part.series_id)] = {"before": None if is_new else noise.floor_ratio, "floor": floor}
    return taught


def forget_noise(taught: Mapping[str, Taught]) -> None:
    """Set floors back to what they were, where nobody has raised them further since."""
    for series_id, change in taught.items():
        noise = SeriesNoise.objects.filter(series=int(series_id), floor_ratio=change["floor"])
        if change["before"] is None:
            noise.delete()
        else:
            noise.update(floor_ratio=change["before"])
