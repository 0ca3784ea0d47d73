"""Bring an event to the outbox: by the rules that want it, unless maintenance mutes it, for when it may go."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet
from django.utils import timezone

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.common import celery_client
from benchweb.notifications.events import NotificationEvent
from benchweb.notifications.messages import event_payload, message_id, with_joined
from benchweb.notifications.models import Delivery, MaintenanceWindow, Rule
from benchweb.notifications.timing import (
    digest_reason,
    end_of_quiet,
    held_fields,
    next_time_of_day,
    quiet_reason,
    utc_text,
)
from benchweb.regressions.models import Alert

# Hosts of a pair.
_PAIR = 2
# What series joined is told with what joins in so long after it, by one message.
JOINED = "joined"
JOINED_WAIT = timedelta(minutes=10)
# A message that says so of an alert says with it what joined.
_TOLD_WITH = (Alert.State.OPEN.value, "worse", JOINED)
_UNSENT = (Delivery.State.QUEUED, Delivery.State.HELD)
SEND_TASK = "workers.tasks.send_notifications"


@dataclass(frozen=True)
class _When:
    """The time at which a message may go: at once, at the end of quiet hours, or with a digest."""

    state: str
    reason: str = ""
    next_attempt_at: datetime | None = None
    digest_due_at: datetime | None = None


def notify(event: NotificationEvent) -> list[Delivery]:
    """Write the messages about an event within the caller's transaction; they are sent once it is committed.

    The same event told again writes nothing.
    """
    now = timezone.now()
    rules = [rule for rule in _wanting_rules(event) if _has_heard(rule, event)]
    if not rules:
        return []
    window = _muting_window(event, now)
    chosen: dict[int, Delivery] = {}
    if event.transition != JOINED:
        _hurry_joined(event, now)
    for rule in rules:
        delivery = _delivery(event, rule, window, now)
        other = chosen.get(rule.channel_id)
        if other is None or _is_sooner(delivery, other):
            chosen[rule.channel_id] = delivery
    if event.transition == JOINED:
        chosen = {key: delivery for key, delivery in chosen.items() if not _is_added_to_unsent(delivery, event)}
    Delivery.objects.bulk_create(chosen.values(), ignore_conflicts=True)
    celery_client.send_on_commit(SEND_TASK)
    return list(chosen.values())


def notify_in_digests(event: NotificationEvent) -> list[Delivery]:
    """Write what the next digests tell of an event that nobody has to know at once; told again it writes nothing.

    A rule wants it that has a digest and wants to know when such a thing begins. Maintenance mutes nothing: what lasts
    for weeks is not of that hour.
    """
    now = timezone.now()
    chosen: dict[int, Delivery] = {}
    for rule in _wanting_rules(replace(event, transition=Alert.State.OPEN)):
        if rule.digest_at is not None:
            delivery = _delivery(event, rule, None, now)
            other = chosen.get(rule.channel_id)
            if other is None or _is_sooner(delivery, other):
                chosen[rule.channel_id] = delivery
    return Delivery.objects.bulk_create(chosen.values(), ignore_conflicts=True)


def _is_added_to_unsent(delivery: Delivery, event: NotificationEvent) -> bool:
    """Let a message of the same alert that nobody has begun to send tell of what joined; True where there is one."""
    if delivery.state not in _UNSENT:
        return False
    same = _unsent(event).filter(channel=delivery.channel_id, payload__data__transition__in=_TOLD_WITH)
    waiting = same.select_for_update().order_by("-pk").first()
    if waiting is None:
        return False
    waiting.payload = with_joined(waiting.payload, delivery.payload)
    waiting.save(update_fields=["payload"])
    return True


def _hurry_joined(event: NotificationEvent, now: datetime) -> None:
    """Send what waits for more that joins the same alert before what became of that since."""
    waiting = _unsent(event).filter(state=Delivery.State.QUEUED, payload__data__transition=JOINED)
    waiting.filter(next_attempt_at__gt=now).update(next_attempt_at=now, **reason_fields("reason", ""))


def _unsent(event: NotificationEvent) -> "QuerySet[Delivery, Delivery]":
    unsent = Delivery.objects.filter(state__in=_UNSENT, attempts=0, digest=None)
    return unsent.filter(payload__data__thread=event.thread) if event.thread else unsent.none()


def _wanting_rules(event: NotificationEvent) -> Iterable[Rule]:
    least = [severity.value for severity in Alert.Severity if severity.rank <= Alert.Severity(event.severity).rank]
    return (
        Rule.objects.filter(
            Q(environment=None) | Q(environment__in=event.environment_ids),
            Q(plan=None) | Q(plan=event.plan_id),
            Q(host_label="") | Q(host_label__in=event.labels),
            Q(alert_kinds=[]) | Q(alert_kinds__contains=[event.kind]),
            Q(transitions=[]) | Q(transitions__contains=[event.transition]),
            least_severity__in=least,
            archived_at=None,
            channel__archived_at=None,
        )
        .select_related("channel")
        .order_by("pk")
    )


def _has_heard(rule: Rule, event: NotificationEvent) -> bool:
    """Tell whether a channel was told that it began, where its rule wants that and an end alone says nothing."""
    if not event.told_by or (rule.transitions and Alert.State.OPEN not in rule.transitions):
        return True
    beginnings = Delivery.objects.filter(event_id__in=event.told_by, channel=rule.channel_id)
    return beginnings.exclude(state=Delivery.State.MUTED).exists()


def _muting_window(event: NotificationEvent, now: datetime) -> MaintenanceWindow | None:
    # What more than a pair's hosts show goes on while one of them is in maintenance.
    concerned = Q(host__in=event.host_ids) | Q(host_label__in=event.labels) if len(event.host_ids) <= _PAIR else Q()
    if len(event.environment_ids) == 1:
        concerned |= Q(environment=event.environment_ids[0])
    if not concerned:
        return None
    under_way = MaintenanceWindow.objects.filter(archived_at=None, begins_at__lte=now, ends_at__gt=now)
    return under_way.filter(concerned).order_by("-ends_at").first()


def _delivery(event: NotificationEvent, rule: Rule, window: MaintenanceWindow | None, now: datetime) -> Delivery:
    when = (
        _when_muted(window)
        if window
        else _when_channel_ended(rule, now)
        if rule.channel.disabled_at
        else _when_joined(rule, now)
        if event.transition == JOINED
        else _when_allowed(rule, now)
    )
    held_until = (when.next_attempt_at or when.digest_due_at) if when.state == Delivery.State.HELD else None
    return Delivery(
        channel=rule.channel,
        rule=rule,
        event_id=event.id,
        message_id=message_id(),
        payload=event_payload(event),
        state=when.state,
        **reason_fields("reason", when.reason),
        muted_by=window,
        next_attempt_at=when.next_attempt_at,
        digest_due_at=when.digest_due_at,
        **(held_fields(held_until, ZoneInfo(rule.time_zone)) if held_until else {}),
        finished_at=now if when.state in (Delivery.State.MUTED, Delivery.State.GIVEN_UP) else None,
    )


def _when_muted(window: MaintenanceWindow) -> _When:
    return _When(Delivery.State.MUTED, Reason("delivery_muted", window=window.name, until=utc_text(window.ends_at)))


def _when_channel_ended(rule: Rule, now: datetime) -> _When:
    return _When(Delivery.State.GIVEN_UP, Reason("delivery_channel_disabled", reason=rule.channel.disabled_why))


def _when_allowed(rule: Rule, now: datetime) -> _When:
    zone = ZoneInfo(rule.time_zone)
    if rule.digest_at is not None:
        due = next_time_of_day(now, rule.digest_at, zone)
        return _When(Delivery.State.HELD, digest_reason(due), digest_due_at=due)
    quiet_until = end_of_quiet(now, rule.quiet_from, rule.quiet_until, zone)
    if quiet_until is not None:
        return _When(Delivery.State.HELD, quiet_reason(quiet_until), next_attempt_at=quiet_until)
    return _When(Delivery.State.QUEUED, next_attempt_at=now)


def _when_joined(rule: Rule, now: datetime) -> _When:
    """Wait for what else joins the alert: the runs of a slot end one after the other."""
    until = now + JOINED_WAIT
    when = _when_allowed(rule, now if rule.digest_at is not None else until)
    if when.state != Delivery.State.QUEUED:
        return when
    return _When(when.state, Reason("delivery_waits_for_joined", until=utc_text(until)), next_attempt_at=until)


def _is_sooner(one: Delivery, other: Delivery) -> bool:
    last = datetime.max.replace(tzinfo=timezone.get_default_timezone())
    return (one.next_attempt_at or one.digest_due_at or last) < (other.next_attempt_at or other.digest_due_at or last)
