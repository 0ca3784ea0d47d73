"""Lengths and times of day, as reasons say them."""

from datetime import datetime, timedelta

from benchweb.schedules.timing.localtime import zone_of


def duration_text(length: timedelta) -> str:
    """Say a length by its two largest units: 4 h 12 min."""
    seconds = int(length.total_seconds())
    parts = []
    for unit_seconds, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, seconds = divmod(seconds, unit_seconds)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def time_text(at: datetime, zone_name: str) -> str:
    """Say a time of day in a zone: 02:00 Asia/Shanghai."""
    return f"{at.astimezone(zone_of(zone_name)):%H:%M} {zone_name}"
