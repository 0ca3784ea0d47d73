"""Points in time as text, the same in every document."""

from datetime import UTC, datetime


def rfc3339(moment: datetime) -> str:
    """Give UTC with all microseconds: a time that is read and sent back as a filter finds its own row."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
