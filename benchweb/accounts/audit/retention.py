"""Remove entries that are older than the setting says."""

import time
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry

_PAUSE_SECONDS = 3_600
_REMOVED_AT_ONCE = 10_000
_last_removal = [float("-inf")]


def remove_old_now_and_then() -> int:
    """Remove what is too old, at most once an hour; return how many entries. For the tick."""
    if time.monotonic() - _last_removal[0] < _PAUSE_SECONDS:
        return 0
    _last_removal[0] = time.monotonic()
    return remove_old()


def remove_old() -> int:
    """Remove the oldest of what is too old; the database itself keeps all of the last 30 days."""
    if not settings.AUDIT_DAYS:
        return 0
    over = AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=settings.AUDIT_DAYS))
    oldest = list(over.order_by("at").values_list("pk", flat=True)[:_REMOVED_AT_ONCE])
    return AuditEntry.objects.filter(pk__in=oldest).delete()[0]
