"""Send one message to one channel, within ten seconds whatever the receiver does."""

import logging
import traceback
from collections.abc import Callable, Sequence

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.notifications.answers import Answer
from benchweb.notifications.egress import EgressRefused, admits, admits_mail_server, guarded
from benchweb.notifications.kinds.email import mail
from benchweb.notifications.kinds.webhook import post
from benchweb.notifications.messages import Message
from benchweb.notifications.models import Channel
from benchweb.site.mail import SiteEmailBackend
from benchweb.site.secrets import SecretUnreadable, decrypted
from benchweb.site.values import site_setting

SECONDS = 10.0
_log = logging.getLogger(__name__)


def send(message: Message, channel: Channel, *, left: Sequence[str] = ()) -> Answer:
    """Send it, and return what the receiver said, or why it could not be asked; of mail to those that are `left`."""
    if channel.kind == Channel.Kind.EMAIL:
        return send_mail(message, left or channel.config["to"])
    try:
        secret = decrypted(channel.secret_encrypted)
    except SecretUnreadable:
        return Answer(error=Reason("channel_secret_unreadable"))
    if channel.kind == Channel.Kind.WEBHOOK:
        return _answer(message, lambda: post.send(message, channel.config["url"], secret))
    return _answer(message, lambda: _by_apprise(message, secret))


def send_mail(message: Message, to: Sequence[str]) -> Answer:
    """Send it by the site's mail server to addresses, and return what that one said."""
    if not site_setting("EMAIL_HOST"):
        return Answer(error=Reason("mail_without_server"))
    try:
        server = SiteEmailBackend(timeout=mail.STEP_SECONDS)
    except SecretUnreadable:
        return Answer(error=Reason("mail_password_unreadable"))
    written = mail.mail_of(message, to)
    return _answer(message, lambda: mail.send(written, server), admitted=admits_mail_server)


def _answer(message: Message, call: Callable[[], Answer], *, admitted: Callable[[str], bool] = admits) -> Answer:
    try:
        return guarded(call, seconds=SECONDS, admitted=admitted)
    except EgressRefused as error:
        return Answer(error=reason_of_error(error))
    except TimeoutError as error:
        return Answer(error=reason_of_error(error) or Reason("receiver_too_slow", seconds=SECONDS))
    except OSError as error:
        return Answer(error=Reason("receiver_unreachable", error=error.strerror or type(error).__name__))
    except Exception as error:
        # A fault in a sender must be told in the log of the channel too. Its words could hold a secret, its places not.
        places = "".join(traceback.format_tb(error.__traceback__))
        _log.error("Sending %s failed by %s at\n%s", message.id, type(error).__name__, places)
        return Answer(error=Reason("sending_failed", name=type(error).__name__))


def _by_apprise(message: Message, url: str) -> Answer:
    # Loaded by the first message only: it takes half a second.
    from benchweb.notifications.kinds.apprise import messenger

    return messenger.send(message, url)
