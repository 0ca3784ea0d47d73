"""Messengers by Apprise: one address, all of it secret."""

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.kind import (
    MOST_ADDRESS_CHARACTERS,
    ChannelField,
    ChannelKind,
    ChannelSettings,
    Receiver,
)
from benchweb.notifications.messages import Message


def _check(settings: ChannelSettings, is_new: bool) -> dict[str, Any]:
    return {"schema": _schema(settings.secret)} if is_new or settings.secret else {}


def _sender(message: Message, receiver: Receiver) -> Callable[[], ReceiverAnswer]:
    def send() -> ReceiverAnswer:
        # Loaded by the first message only: it takes half a second.
        from benchweb.notifications.kinds.apprise import messenger

        return messenger.send(message, receiver.secret)

    return send


APPRISE = ChannelKind(
    key="apprise",
    label=gettext_lazy("messenger"),
    fields=[
        ChannelField(
            "secret",
            gettext_lazy("Apprise address"),
            gettext_lazy("Such as slack://… or feishu://…; appriseit.com lists the form for each service."),
        )
    ],
    check=_check,
    sender=_sender,
)


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
