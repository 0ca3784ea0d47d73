"""Create, change, archive and try channels."""

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.delivery import outbox
from benchweb.notifications.delivery.sending import send_by
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.events import NotificationEvent
from benchweb.notifications.kinds.email.kind import EMAIL
from benchweb.notifications.kinds.kind import SETTING_NAMES, ChannelSettings, Receiver
from benchweb.notifications.kinds.table import CHANNEL_KINDS, unknown_kind_words
from benchweb.notifications.messages import event_payload, message, message_id
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt
from benchweb.notifications.naming import checked_name
from benchweb.regressions.models import Alert
from benchweb.site.secrets import encrypted

_DISABLED_BY_HAND = Reason("channel_disabled_by_hand")
_ARCHIVED = Reason("channel_archived")


def channel_create(*, name: str, settings: ChannelSettings) -> Channel:
    """Create a channel; refused where its settings can't work."""
    config = _checked_config(settings, is_new=True)
    return Channel.objects.create(
        name=checked_name(name), kind=settings.kind, config=config, secret_encrypted=_stored_secret(settings.secret)
    )


@transaction.atomic
def channel_update(*, channel: Channel, name: str, settings: ChannelSettings, enabled: bool) -> None:
    """Change a channel; enabled again it takes what happens from then on."""
    # A secret belongs to the receiver that it was entered for.
    has_moved = channel.config.get("url", settings.url) != settings.url
    if has_moved and channel.secret_encrypted and not settings.secret:
        raise NotificationError("secret", _("Another address needs the secret of the receiver there: enter it too."))
    values: dict[str, Any] = {
        "name": checked_name(name),
        "config": _checked_config(settings, is_new=False) or channel.config,
    }
    if settings.secret:
        values["secret_encrypted"] = _stored_secret(settings.secret)
    Channel.objects.filter(pk=channel.pk).update(**values)
    if enabled:
        channel_enable(channel=channel)
    else:
        outbox.disable(channel, _DISABLED_BY_HAND)


def channel_enable(*, channel: Channel) -> bool:
    """Take up a disabled channel; what happened meanwhile isn't sent. False when it was not disabled."""
    disabled = Channel.objects.filter(pk=channel.pk).exclude(disabled_at=None)
    return disabled.update(disabled_at=None, **reason_fields("disabled_reason", "")) == 1


@transaction.atomic
def channel_archive(*, channel: Channel) -> None:
    """Archive a channel: nothing goes there any more; its log stays."""
    outbox.disable(channel, _ARCHIVED)
    Channel.objects.filter(pk=channel.pk, archived_at=None).update(archived_at=timezone.now())


@transaction.atomic
def channel_restore(*, channel: Channel) -> bool:
    """Bring an archived channel back; it takes what happens from then on, unless it was disabled before."""
    archived = Channel.objects.select_for_update().filter(pk=channel.pk).exclude(archived_at=None).first()
    if archived is None:
        return False
    Channel.objects.filter(pk=archived.pk).update(archived_at=None)
    if archived.disabled_why == _ARCHIVED:
        channel_enable(channel=archived)
    return True


def channel_test(*, channel: Channel) -> DeliveryAttempt:
    """Send a test message now, and return the attempt with the receiver's answer; it takes ten seconds at most."""
    now = timezone.now()
    event = _test_event(f"Test of the channel {channel.name}", now)
    delivery = Delivery.objects.create(
        channel=channel,
        event_id=event.id,
        message_id=message_id(),
        payload=event_payload(event),
        next_attempt_at=now,
        # Claimed from its beginning, so that no worker takes it and that it waits behind nothing.
        claimed_until=now + outbox.LEASE,
        attempts=1,
    )
    attempt = DeliveryAttempt.objects.create(delivery=delivery, number=1, begun_at=now)
    outbox.attempt(outbox.Claim(delivery, 1))
    attempt.refresh_from_db()
    return attempt


def mail_test(*, to: str) -> ReceiverAnswer:
    """Mail a test message now, and return what the site's mail server said; it takes ten seconds at most."""
    payload = event_payload(_test_event("Test of the mail server", timezone.now()))
    return send_by(EMAIL, message(message_id(), payload), Receiver({"to": [to]}))


def _test_event(title: str, at: datetime) -> NotificationEvent:
    return NotificationEvent(
        id=f"{outbox.TEST_PREFIX}{secrets.token_hex(8)}",
        kind="test",
        transition="test",
        severity=Alert.Severity.INFO,
        title=title,
        text="Somebody tests whether messages of benchweb arrive here. They do.",
        url="/",
        at=at,
    )


def _checked_config(settings: ChannelSettings, *, is_new: bool) -> dict[str, Any]:
    """Return what is stored of a channel's settings beside its secret; {} for what stays as it is."""
    kind = CHANNEL_KINDS.get(settings.kind)
    if kind is None:
        raise NotificationError("kind", unknown_kind_words())
    for field in SETTING_NAMES:
        if field not in kind.setting_names and getattr(settings, field):
            raise NotificationError(
                field,
                _("A channel of the kind {kind} has no {field}: leave it out.").format(kind=settings.kind, field=field),
            )
    return kind.check(settings, is_new)


def _stored_secret(secret: str) -> bytes:
    return encrypted(secret) if secret else b""
