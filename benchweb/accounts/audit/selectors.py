"""Read the audit log."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from benchweb.accounts.audit.models import AuditEntry

_ENTRIES_AT_ONCE = 500


@dataclass(frozen=True)
class AuditFilter:
    """The entries that are wanted; what is empty leaves nothing out. `last` is the first moment that isn't wanted."""

    user: str = ""
    action: str = ""
    via: str = ""
    table: str = ""
    object_id: int | None = None
    first: datetime | None = None
    last: datetime | None = None


def audit_entries(wanted: AuditFilter) -> "QuerySet[AuditEntry, AuditEntry]":
    """Return the entries that match."""
    conditions = {
        "user_name": wanted.user,
        "action": wanted.action,
        "via": wanted.via,
        "table": wanted.table,
        "object_id": wanted.object_id,
        "at__gte": wanted.first,
        "at__lt": wanted.last,
    }
    return AuditEntry.objects.filter(**{name: value for name, value in conditions.items() if value not in ("", None)})


def audit_parts(entries: "QuerySet[AuditEntry, AuditEntry]", *, after: int = 0) -> Iterator[list[AuditEntry]]:
    """Return entries, the oldest first, some at a time; one query for each part, none held open."""
    rows = entries.order_by("pk")
    while part := list(rows.filter(pk__gt=after)[:_ENTRIES_AT_ONCE]):
        yield part
        after = part[-1].pk
