"""Let a copy become the original."""

from django.db import transaction
from django.utils import timezone

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.notifications.delivery.outbox import OPEN
from benchweb.notifications.models import Delivery
from benchweb.site.installation import ROW, original_mark
from benchweb.site.models import Installation


@transaction.atomic
def original_make() -> int:
    """Let this installation be the original; return how many messages are not sent, for the former original sent them.

    Those are what was waiting in the backup that this was restored from.
    """
    unsent = 0
    if Installation.objects.filter(pk=ROW).exclude(copy_since=None).exists():
        waiting = Delivery.objects.filter(state__in=OPEN)
        unsent = waiting.update(
            state=Delivery.State.GIVEN_UP,
            next_attempt_at=None,
            claimed_until=None,
            finished_at=timezone.now(),
            **reason_fields("reason", Reason("delivery_of_copy")),
        )
    original_mark()
    return unsent
