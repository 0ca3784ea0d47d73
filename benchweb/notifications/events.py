"""The events that are told: one thing that happened, whoever it was that found it."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class NotificationEvent:
    """Something that rules may send; `id` is the same however often it is told, `url` is absolute or a path."""

    id: str
    # What kind of alert, such as "change", and what became of it, such as "open" or "recovered".
    kind: str
    transition: str
    severity: str
    title: str
    text: str
    url: str
    at: datetime
    environment_id: int | None = None
    plan_id: int | None = None
    host_ids: tuple[int, ...] = ()
    # Those of its hosts, its pair and its plan.
    labels: tuple[str, ...] = ()
    # What it belongs to: mails of one thread are shown together.
    thread: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The event as receivers get it: JSON values only."""
        return asdict(self) | {
            "at": self.at.astimezone(UTC).isoformat(),
            "host_ids": list(self.host_ids),
            "labels": list(self.labels),
        }
