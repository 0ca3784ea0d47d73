"""Lists filtered by the days between which their rows were launched."""

from datetime import timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from django.db.models import Model, QuerySet
from django.http import QueryDict

from benchweb.web.shared.zones import requested_day

# In the address: the first day and the last, both of the reader's zone.
LAUNCH_DAYS = ("from", "to")
M = TypeVar("M", bound=Model)


def launched_within(rows: "QuerySet[M, Any]", query: QueryDict, zone: ZoneInfo) -> "QuerySet[M, Any]":
    """Keep what was launched on the days that the query string names, both included; nothing if it names no day."""
    first, last = (query.get(name, "").strip() for name in LAUNCH_DAYS)
    begin, last_begin = requested_day(first, zone), requested_day(last, zone)
    if (first and begin is None) or (last and last_begin is None):
        return rows.none()
    if begin is not None:
        rows = rows.filter(created_at__gte=begin)
    return rows.filter(created_at__lt=last_begin + timedelta(days=1)) if last_begin is not None else rows
