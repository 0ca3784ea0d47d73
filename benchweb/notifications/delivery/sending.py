"""Send one message to one channel, within ten seconds whatever the receiver does."""

import logging
import traceback
from collections.abc import Sequence

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.egress import EgressRefused, guarded
from benchweb.notifications.kinds.kind import ChannelKind, Receiver, Unsendable
from benchweb.notifications.kinds.table import stored_kind
from benchweb.notifications.messages import Message
from benchweb.notifications.models import Channel
from benchweb.site.installation import QUIET, is_copy
from benchweb.site.secrets import SecretUnreadable, decrypted

SECONDS = 10.0
_log = logging.getLogger(__name__)


def send(message: Message, channel: Channel, *, left: Sequence[str] = ()) -> ReceiverAnswer:
    """Send it, and return what the receiver said, or why it could not be asked; of mail to those that are `left`."""
    try:
        secret = decrypted(channel.secret_encrypted)
    except SecretUnreadable:
        return ReceiverAnswer(error=Reason("channel_secret_unreadable"))
    return send_by(stored_kind(channel.kind), message, Receiver(channel.config, secret, left))


def send_by(kind: ChannelKind, message: Message, receiver: Receiver) -> ReceiverAnswer:
    """Send it by a kind of channel to a receiver, and return what that one said. A copy sends nothing."""
    if is_copy():
        return ReceiverAnswer(error=QUIET)
    try:
        return guarded(kind.sender(message, receiver), seconds=SECONDS, admitted=kind.admits)
    except (Unsendable, EgressRefused) as error:
        return ReceiverAnswer(error=reason_of_error(error))
    except TimeoutError as error:
        return ReceiverAnswer(error=reason_of_error(error) or Reason("receiver_too_slow", seconds=SECONDS))
    except OSError as error:
        return ReceiverAnswer(error=Reason("receiver_unreachable", error=error.strerror or type(error).__name__))
    except Exception as error:
        # A fault in a sender must be told in the log of the channel too. Its words could hold a secret, its places not.
        places = "".join(traceback.format_tb(error.__traceback__))
        _log.error("Sending %s failed by %s at\n%s", message.id, type(error).__name__, places)
        return ReceiverAnswer(error=Reason("sending_failed", name=type(error).__name__))
