"""Send what is in the outbox: at least once, whatever is killed.

A message is claimed by one conditional UPDATE, for as long as LEASE; what was claimed and not ended by then is due
again. A channel has one message under way at a time: what happened first is told first, and a receiver that hangs
holds up no other.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from benchweb.catalog.reasons import Reason, joined, reason_fields
from benchweb.notifications.answers import ReceiverAnswer, Recipient, refusal_reason
from benchweb.notifications.delivery.retries import next_attempt
from benchweb.notifications.delivery.sending import send
from benchweb.notifications.messages import digest_payload, message, message_id
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt, Rule
from benchweb.notifications.timing import end_of_quiet, held_fields, quiet_reason
from benchweb.site.values import site_setting

# Longer than sending takes at most, with what is written before and after.
LEASE = timedelta(seconds=30)
# Of one digest; what is more goes into the next one, which is due at once.
MOST_PARTS = 500
# Tries of a message that was claimed by somebody else meanwhile.
_CANDIDATES = 5
OPEN = (Delivery.State.QUEUED, Delivery.State.HELD, Delivery.State.FAILED)
TEST_PREFIX = "test-"
# What is old is removed in parts, lest a large log holds up the tick that removes it.
_REMOVED_AT_ONCE = 10_000


@dataclass(frozen=True)
class Claim:
    """A message that is ours to send, and which of its attempts this is."""

    delivery: Delivery
    number: int


def send_due() -> int:
    """Send what is due, one after the other; return how many attempts that were."""
    count = 0
    while (claimed := claim_next()) is not None:
        attempt(claimed)
        count += 1
    return count


def channels_due(most: int) -> int:
    """Count the channels that have something to send now, up to a number; one query."""
    return _due_deliveries(timezone.now()).order_by("channel").values("channel").distinct()[:most].count()


def claim_next() -> Claim | None:
    """Claim the message that has been due longest; None when there is none."""
    now = timezone.now()
    for pk in list(_due_deliveries(now).order_by("next_attempt_at", "pk").values_list("pk", flat=True)[:_CANDIDATES]):
        if claimed := claim(pk, now):
            return claimed
    return None


def claim(delivery_id: int, now: datetime) -> Claim | None:
    """Claim one message; None when somebody else was faster."""
    with transaction.atomic():
        mine = _due_deliveries(now).filter(pk=delivery_id)
        if not mine.update(claimed_until=now + LEASE, attempts=F("attempts") + 1):
            return None
        delivery = Delivery.objects.select_related("channel", "rule").get(pk=delivery_id)
        DeliveryAttempt.objects.create(delivery=delivery, number=delivery.attempts, begun_at=now)
    return Claim(delivery, delivery.attempts)


def attempt(claimed: Claim) -> ReceiverAnswer:
    """Send a message and record what became of it."""
    delivery = claimed.delivery
    if not connection.in_atomic_block:
        # A receiver may take seconds: this thread's connection goes back to the pool.
        connection.close()
    answer = send(message(delivery.message_id, delivery.payload), delivery.channel, left=_waiting_recipients(delivery))
    delivery.recipients |= answer.recipients
    with transaction.atomic():
        _log(claimed, answer)
        if answer.is_gone:
            disable(delivery.channel, Reason("channel_gone"))
        if answer.error:
            _note_failure(claimed, answer)
        else:
            _end_delivery(delivery, _state_at_end(delivery, Delivery.State.SENT), refusal_reason(delivery.recipients))
    return answer


def disable(channel: Channel, reason: str) -> None:
    """Stop a channel: what waits for it is given up, and says so."""
    now = timezone.now()
    Channel.objects.filter(pk=channel.pk, disabled_at=None).update(
        disabled_at=now, **reason_fields("disabled_reason", reason)
    )
    waiting = Delivery.objects.filter(channel=channel, state__in=OPEN)
    waiting.update(
        state=Delivery.State.GIVEN_UP,
        **reason_fields("reason", Reason("delivery_channel_disabled", reason=reason)),
        next_attempt_at=None,
        claimed_until=None,
        finished_at=now,
    )


@transaction.atomic
def remove_old() -> int:
    """Remove the oldest of what has been over for longer than the setting says; return how many messages.

    Each goes with its attempts; a digest after all that is in it.
    """
    days = site_setting("DELIVERY_DAYS")
    if not days:
        return 0
    over = Delivery.objects.filter(finished_at__lt=timezone.now() - timedelta(days=days))
    without_parts = over.filter(~Exists(Delivery.objects.filter(digest=OuterRef("pk"))))
    oldest = list(without_parts.order_by("finished_at", "pk").values_list("pk", flat=True)[:_REMOVED_AT_ONCE])
    DeliveryAttempt.objects.filter(delivery__in=oldest).delete()
    return Delivery.objects.filter(pk__in=oldest).delete()[0]


def make_digests() -> int:
    """Make one message of what waits for a digest that is due; return how many were made."""
    waiting = _waiting_for_digests(timezone.now())
    groups = waiting.order_by("channel", "rule").values_list("channel", "rule").distinct()
    return sum(_make_digest(channel, rule) for channel, rule in list(groups))


@transaction.atomic
def _make_digest(channel_id: int, rule_id: int | None) -> int:
    now = timezone.now()
    rows = _waiting_for_digests(now).filter(channel=channel_id, rule=rule_id).order_by("pk")
    parts = list(rows.select_for_update(skip_locked=True, of=("self",))[:MOST_PARTS])
    if not parts:
        return 0
    rule = Rule.objects.filter(pk=rule_id).first() if rule_id else None
    zone = rule.time_zone if rule else "UTC"
    digest = Delivery.objects.create(
        channel_id=channel_id,
        rule_id=rule_id,
        event_id=f"digest-{parts[0].pk}",
        message_id=message_id(),
        payload=digest_payload([part.payload for part in parts], now, rule_id, time_zone=zone),
        next_attempt_at=now,
    )
    Delivery.objects.filter(pk__in=[part.pk for part in parts]).update(digest=digest)
    return 1


def _waiting_for_digests(now: datetime) -> "QuerySet[Delivery, Delivery]":
    return Delivery.objects.filter(state=Delivery.State.HELD, digest=None, digest_due_at__lte=now)


def _due_deliveries(now: datetime) -> "QuerySet[Delivery, Delivery]":
    claimed = Delivery.objects.filter(channel=OuterRef("channel"), claimed_until__gt=now)
    return Delivery.objects.filter(
        Q(claimed_until=None) | Q(claimed_until__lte=now),
        ~Exists(claimed),
        next_attempt_at__lte=now,
        state__in=OPEN,
    )


def _log(claimed: Claim, answer: ReceiverAnswer) -> None:
    DeliveryAttempt.objects.filter(delivery=claimed.delivery, number=claimed.number).update(
        finished_at=timezone.now(), status=answer.status, answer=answer.text, **reason_fields("error", answer.error)
    )


def _note_failure(claimed: Claim, answer: ReceiverAnswer) -> None:
    """Plan the next attempt, unless another worker took this one over when its lease had run out."""
    delivery, now = claimed.delivery, timezone.now()
    missed = refusal_reason(delivery.recipients)
    why = missed if answer.recipients else joined([missed, answer.error], "; ")
    following = None
    if not delivery.event_id.startswith(TEST_PREFIX) and (_waiting_recipients(delivery) or not delivery.recipients):
        following = next_attempt(delivery.failures + 1, _first_due(delivery), now)
    if following is None:
        _end_delivery(delivery, _state_at_end(delivery, Delivery.State.GIVEN_UP), why, number=claimed.number)
        return
    quiet_until = _quiet_until(delivery, following)
    held = held_fields(quiet_until, ZoneInfo(delivery.rule.time_zone)) if quiet_until and delivery.rule else {}
    Delivery.objects.filter(pk=delivery.pk, attempts=claimed.number, state__in=OPEN).update(
        recipients=delivery.recipients,
        state=Delivery.State.HELD if quiet_until else Delivery.State.FAILED,
        **reason_fields("reason", quiet_reason(quiet_until) if quiet_until else why),
        next_attempt_at=quiet_until or following,
        **held,
        claimed_until=None,
        failures=F("failures") + 1,
    )


def _waiting_recipients(delivery: Delivery) -> list[str]:
    """Return the recipients that a mail is to be tried for again; none where all are to have it still."""
    return [address for address, each in delivery.recipients.items() if each["state"] == Recipient.WAITING]


def _state_at_end(delivery: Delivery, otherwise: str) -> str:
    """Return what a message is after its last attempt, by what became of its recipients where it has any."""
    states = {each["state"] for each in delivery.recipients.values()}
    if Recipient.TAKEN not in states:
        return otherwise
    return Delivery.State.SENT if states == {Recipient.TAKEN} else Delivery.State.PARTIAL


def _first_due(delivery: Delivery) -> datetime:
    """Return when its first attempt began: what quiet hours held is no older for that."""
    return delivery.log.order_by("number").values_list("begun_at", flat=True)[0]


def _quiet_until(delivery: Delivery, moment: datetime) -> datetime | None:
    rule = delivery.rule
    if rule is None or rule.digest_at is not None:
        return None
    return end_of_quiet(moment, rule.quiet_from, rule.quiet_until, ZoneInfo(rule.time_zone))


def _end_delivery(delivery: Delivery, state: str, reason: str, *, number: int | None = None) -> None:
    """End a message, and with a digest all that is in it; of failures only the newest attempt's counts."""
    rows = Delivery.objects.filter(pk=delivery.pk, state__in=OPEN)
    if number is not None:
        rows = rows.filter(attempts=number)
    ended = {
        "state": state,
        **reason_fields("reason", reason),
        "next_attempt_at": None,
        "claimed_until": None,
        "finished_at": timezone.now(),
    }
    failures = F("failures") + int(number is not None)
    if rows.update(failures=failures, recipients=delivery.recipients, **ended):
        Delivery.objects.filter(digest=delivery).update(**ended)
