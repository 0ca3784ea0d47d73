"""Slow changes in digests: told where a rule has a digest of changes, and nowhere else."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.dispatch import receiver
from django.utils import translation

from benchweb.hosts.models import Pair
from benchweb.notifications.events import NotificationEvent
from benchweb.notifications.messages import SLOW
from benchweb.notifications.routing import notify_in_digests
from benchweb.regressions.models import Alert, SlowLook
from benchweb.regressions.signals import slow_changes_found
from benchweb.regressions.slow.told import SlowLine, slow_lines
from benchweb.site.values import site_setting


@receiver(slow_changes_found, sender=SlowLook, dispatch_uid="benchweb.notifications.slow_changes")
def tell_slow_changes(look: SlowLook, **_kwargs: Any) -> None:
    """Write what digests tell of a look, in the installation's language; of a history that nobody measured nothing."""
    if look.environment.is_synthetic:
        return
    with translation.override(site_setting("DEFAULT_LANGUAGE")):
        for line in slow_lines(look.changes.all()):
            pairs = list(_pairs_of(line))
            if not any(host.is_synthetic for pair in pairs for host in (pair.source.host, pair.sink.host)):
                notify_in_digests(_event(look, line, pairs))


def _pairs_of(line: SlowLine) -> "QuerySet[Pair, Pair]":
    pairs = Pair.objects.filter(series__slow_parts__change=line.change).distinct()
    return pairs.select_related("source__host", "sink__host").order_by("pk")


def _event(look: SlowLook, line: SlowLine, pairs: Sequence[Pair]) -> NotificationEvent:
    hosts = {host.pk: host for pair in pairs for host in (pair.source.host, pair.sink.host)}
    return NotificationEvent(
        id=f"slow-{line.change.pk}",
        kind=Alert.Kind.CHANGE,
        transition=SLOW,
        severity=Alert.Severity.INFO,
        title=line.title,
        text=line.details,
        url=f"/history?{line.history_query}",
        at=look.taken_at or look.claimed_until,
        environment_ids=(look.environment_id,),
        host_ids=tuple(sorted(hosts)),
        labels=tuple(sorted({label for row in (*hosts.values(), *pairs) for label in row.labels})),
    )
