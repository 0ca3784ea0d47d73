"""Create, change, archive and try channels."""

import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.notifications import egress
from benchweb.notifications.answers import Answer
from benchweb.notifications.delivery import outbox
from benchweb.notifications.delivery.sending import send_mail
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.events import Event, Severity
from benchweb.notifications.kinds.webhook.post import signing_key
from benchweb.notifications.messages import event_payload, message, message_id
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt
from benchweb.notifications.naming import checked_name
from benchweb.site.secrets import encrypted

MOST_RECIPIENTS = 50
MOST_ADDRESS_CHARACTERS = 2_000
_DISABLED_BY_HAND = Reason("channel_disabled_by_hand")
_ARCHIVED = Reason("channel_archived")


@dataclass(frozen=True)
class ChannelSettings:
    """What a channel of each kind needs: `to` for e-mail, `url` for a webhook, `secret` for both others."""

    kind: str
    to: Sequence[str] = ()
    url: str = ""
    # Empty keeps the one that is stored.
    secret: str = ""


def channel_create(*, name: str, settings: ChannelSettings) -> Channel:
    """Create a channel; refused where its settings can't work."""
    config = _checked(settings, is_new=True)
    return Channel.objects.create(
        name=checked_name(name), kind=settings.kind, config=config, secret_encrypted=_stored(settings.secret)
    )


@transaction.atomic
def channel_update(*, channel: Channel, name: str, settings: ChannelSettings, enabled: bool) -> None:
    """Change a channel; enabled again it takes what happens from then on."""
    # A secret belongs to the receiver that it was entered for.
    moved = settings.kind == Channel.Kind.WEBHOOK and settings.url != channel.config.get("url")
    if moved and not settings.secret:
        raise NotificationError("secret", _("Another address needs the secret of the receiver there: enter it too."))
    values: dict[str, Any] = {"name": checked_name(name), "config": _checked(settings, is_new=False) or channel.config}
    if settings.secret:
        values["secret_encrypted"] = _stored(settings.secret)
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


def mail_test(*, to: str) -> Answer:
    """Mail a test message now, and return what the site's mail server said; it takes ten seconds at most."""
    payload = event_payload(_test_event("Test of the mail server", timezone.now()))
    return send_mail(message(message_id(), payload), [to])


def _test_event(title: str, at: datetime) -> Event:
    return Event(
        id=f"{outbox.TEST_PREFIX}{secrets.token_hex(8)}",
        kind="test",
        transition="test",
        severity=Severity.INFO,
        title=title,
        text="Somebody tests whether messages of benchweb arrive here. They do.",
        url="/",
        at=at,
    )


def _checked(settings: ChannelSettings, *, is_new: bool) -> dict[str, Any]:
    """Return what is stored of a channel's settings beside its secret; {} for what stays as it is."""
    match settings.kind:
        case Channel.Kind.EMAIL:
            _refuse_given(settings, "url", "secret")
            return {"to": _recipients(settings.to)}
        case Channel.Kind.WEBHOOK:
            _refuse_given(settings, "to")
            if is_new or settings.secret:
                _signing_secret(settings.secret)
            return {"url": _webhook_url(settings.url)}
        case Channel.Kind.APPRISE:
            _refuse_given(settings, "to", "url")
            return {"schema": _schema(settings.secret)} if is_new or settings.secret else {}
    raise NotificationError(
        "kind", _("A channel is of the kind {values}.").format(values=", ".join(Channel.Kind.values))
    )


def _refuse_given(settings: ChannelSettings, *fields: str) -> None:
    for field in fields:
        if getattr(settings, field):
            raise NotificationError(
                field,
                _("A channel of the kind {kind} has no {field}: leave it out.").format(kind=settings.kind, field=field),
            )


def _recipients(to: Sequence[str]) -> list[str]:
    if not 1 <= len(to) <= MOST_RECIPIENTS:
        raise NotificationError(
            "to", _("Mail goes to 1 to {most_recipients} addresses.").format(most_recipients=MOST_RECIPIENTS)
        )
    for index, address in enumerate(to):
        try:
            validate_email(address)
        except ValidationError:
            raise NotificationError(
                f"to.{index}", _("{address} is not an e-mail address.").format(address=f"{address[:80]!r}")
            ) from None
    return list(dict.fromkeys(to))


def _webhook_url(url: str) -> str:
    form = _("write https://HOST/PATH, or http:// inside your own network")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise NotificationError("url", _("The address can't be read: {form}.").format(form=form)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or len(url) > MOST_ADDRESS_CHARACTERS:
        raise NotificationError("url", _("The address can't be used: {form}.").format(form=form))
    if not url.isascii() or not url.isprintable() or " " in url:
        raise NotificationError("url", _("The address has characters that must be written as % and two digits."))
    if "@" in parts.netloc:
        raise NotificationError("url", _("No user and password in the address: messages are signed with the secret."))
    if _is_ip_address(parts.hostname) and not egress.admits(parts.hostname):
        raise NotificationError("url", egress.refusal(parts.hostname))
    return parts._replace(fragment="").geturl()


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _signing_secret(secret: str) -> None:
    try:
        signing_key(secret)
    except ValueError as error:
        raise NotificationError("secret", str(error)) from None


def _schema(url: str) -> str:
    # Loaded where it is needed only: it takes half a second.
    from benchweb.notifications.kinds.apprise.messenger import AddressRefused, schema_of

    if len(url) > MOST_ADDRESS_CHARACTERS:
        raise NotificationError(
            "secret",
            _("An address has at most {most_address_characters} characters.").format(
                most_address_characters=f"{MOST_ADDRESS_CHARACTERS:,}"
            ),
        )
    try:
        return schema_of(url)
    except AddressRefused as error:
        raise NotificationError("secret", str(error)) from None


def _stored(secret: str) -> bytes:
    return encrypted(secret) if secret else b""
