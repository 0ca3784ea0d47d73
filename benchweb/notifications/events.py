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
    environment_ids: tuple[int, ...] = ()
    plan_id: int | None = None
    host_ids: tuple[int, ...] = ()
    # Those of its hosts, its pairs and its plan.
    labels: tuple[str, ...] = ()
    # What it belongs to: mails of one thread are shown together.
    thread: str = ""
    # Of what ends something: the ids of the events that told of it, without which nobody hears of its end.
    told_by: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The event as receivers get it: JSON values only."""
        document = asdict(self)
        del document["told_by"]
        return document | {
            "at": self.at.astimezone(UTC).isoformat(),
            # The only one; of several all of them are below.
            "environment_id": self.environment_ids[0] if len(self.environment_ids) == 1 else None,
            "environment_ids": list(self.environment_ids),
            "host_ids": list(self.host_ids),
            "labels": list(self.labels),
        }
