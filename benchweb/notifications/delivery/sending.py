"""Send one message to one channel, within ten seconds whatever the receiver does."""

import logging
import traceback
from collections.abc import Callable

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.hosts.secrets import SecretUnreadable, decrypted
from benchweb.notifications.delivery.egress import EgressRefused, guarded
from benchweb.notifications.delivery.messages import Message
from benchweb.notifications.delivery.senders import mail, webhook
from benchweb.notifications.delivery.senders.answers import Answer
from benchweb.notifications.models import Channel

SECONDS = 10.0
_log = logging.getLogger(__name__)


def send(message: Message, channel: Channel) -> Answer:
    """Send it, and return what the receiver said, or why it could not be asked."""
    try:
        secret = decrypted(channel.secret_encrypted)
    except SecretUnreadable:
        return Answer(error=Reason("channel_secret_unreadable"))
    # A mail server is the operator's own choice, and usually in a network of theirs.
    checks_addresses = channel.kind != Channel.Kind.EMAIL
    try:
        return guarded(_call(message, channel, secret), seconds=SECONDS, checks_addresses=checks_addresses)
    except EgressRefused as error:
        return Answer(error=reason_of_error(error))
    except TimeoutError as error:
        return Answer(error=reason_of_error(error) or Reason("receiver_too_slow", seconds=SECONDS))
    except OSError as error:
        return Answer(error=Reason("receiver_unreachable", error=error.strerror or type(error).__name__))
    except Exception as error:
        # A fault in a sender must be told in the log of the channel too. Its words could hold a secret, its places not.
        places = "".join(traceback.format_tb(error.__traceback__))
        _log.error("Channel %s: sending %s failed by %s at\n%s", channel.pk, message.id, type(error).__name__, places)
        return Answer(error=Reason("sending_failed", name=type(error).__name__))


def _call(message: Message, channel: Channel, secret: str) -> Callable[[], Answer]:
    match channel.kind:
        case Channel.Kind.EMAIL:
            return lambda: mail.send(message, channel.config["to"])
        case Channel.Kind.WEBHOOK:
            return lambda: webhook.send(message, channel.config["url"], secret)
        case _:
            return lambda: _by_apprise(message, secret)


def _by_apprise(message: Message, url: str) -> Answer:
    # Loaded by the first message only: it takes half a second.
    from benchweb.notifications.delivery.senders import messenger

    return messenger.send(message, url)
