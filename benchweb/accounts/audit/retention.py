"""Remove entries that are older than the setting says."""

from datetime import timedelta

from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry
from benchweb.site.values import site_setting

_REMOVED_AT_ONCE = 10_000


def remove_old() -> int:
    """Remove the oldest of what is too old; return how many. The database itself keeps all of the last 30 days."""
    days = site_setting("AUDIT_DAYS")
    if not days:
        return 0
    over = AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=days))
    oldest = list(over.order_by("at").values_list("pk", flat=True)[:_REMOVED_AT_ONCE])
    return AuditEntry.objects.filter(pk__in=oldest).delete()[0]
