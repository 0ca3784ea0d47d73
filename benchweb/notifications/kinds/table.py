"""All kinds of channels, in the order in which the page offers them."""

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog.reasons import Reason
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.apprise.kind import APPRISE
from benchweb.notifications.kinds.email.kind import EMAIL
from benchweb.notifications.kinds.kind import ChannelKind, ChannelSettings, Receiver, Unsendable
from benchweb.notifications.kinds.webhook.kind import WEBHOOK
from benchweb.notifications.messages import Message

CHANNEL_KINDS: dict[str, ChannelKind] = {kind.key: kind for kind in (EMAIL, WEBHOOK, APPRISE)}


def unknown_kind_words() -> str:
    """Say which kinds there are."""
    return _("A channel is of the kind {values}.").format(values=", ".join(CHANNEL_KINDS))


def stored_kind(key: str) -> ChannelKind:
    """Return the kind of a channel that is stored; of one that another version made, a kind that refuses all."""

    def check(_settings: ChannelSettings, _is_new: bool) -> dict[str, Any]:
        raise NotificationError("kind", unknown_kind_words())

    def sender(_message: Message, _receiver: Receiver) -> Callable[[], ReceiverAnswer]:
        raise Unsendable(Reason("channel_kind_unknown", kind=key))

    return CHANNEL_KINDS.get(key) or ChannelKind(key, key, [], check, sender)
