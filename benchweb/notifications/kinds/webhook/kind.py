"""Webhooks: an address, and a key that messages are signed with."""

import ipaddress
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.notifications import egress
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.kind import (
    MOST_ADDRESS_CHARACTERS,
    ChannelField,
    ChannelKind,
    ChannelSettings,
    Receiver,
)
from benchweb.notifications.kinds.webhook import post
from benchweb.notifications.messages import Message


def _check(settings: ChannelSettings, is_new: bool) -> dict[str, Any]:
    if is_new or settings.secret:
        _check_secret(settings.secret)
    return {"url": _checked_url(settings.url)}


def _sender(message: Message, receiver: Receiver) -> Callable[[], ReceiverAnswer]:
    return lambda: post.send(message, receiver.config["url"], receiver.secret)


WEBHOOK = ChannelKind(
    key="webhook",
    label=gettext_lazy("webhook"),
    fields=[
        ChannelField("url", gettext_lazy("Address"), placeholder="https://example.org/hook"),
        ChannelField(
            "secret",
            gettext_lazy("Secret"),
            gettext_lazy("Messages are signed with it: give it to the receiver too. It is not shown again."),
            generated_prefix=post.SECRET_PREFIX,
        ),
    ],
    check=_check,
    sender=_sender,
)


def _checked_url(url: str) -> str:
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


def _check_secret(secret: str) -> None:
    try:
        post.signing_key(secret)
    except ValueError as error:
        raise NotificationError("secret", str(error)) from None
