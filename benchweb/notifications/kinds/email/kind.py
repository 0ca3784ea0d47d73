"""E-mail by the site's mail server."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.catalog.reasons import Reason
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.egress import admits_mail_server
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.email import mail
from benchweb.notifications.kinds.kind import ChannelField, ChannelKind, ChannelSettings, Receiver, Unsendable
from benchweb.notifications.messages import Message
from benchweb.site.mail import SiteEmailBackend
from benchweb.site.secrets import SecretUnreadable
from benchweb.site.values import site_setting

MOST_RECIPIENTS = 50


def _check(settings: ChannelSettings, is_new: bool) -> dict[str, Any]:
    if not 1 <= len(settings.to) <= MOST_RECIPIENTS:
        raise NotificationError(
            "to", _("Mail goes to 1 to {most_recipients} addresses.").format(most_recipients=MOST_RECIPIENTS)
        )
    for index, address in enumerate(settings.to):
        try:
            validate_email(address)
        except ValidationError:
            raise NotificationError(
                f"to.{index}", _("{address} is not an e-mail address.").format(address=f"{address[:80]!r}")
            ) from None
    return {"to": list(dict.fromkeys(settings.to))}


def _sender(message: Message, receiver: Receiver) -> Callable[[], ReceiverAnswer]:
    if not site_setting("EMAIL_HOST"):
        raise Unsendable(Reason("mail_without_server"))
    try:
        server = SiteEmailBackend(timeout=mail.STEP_SECONDS)
    except SecretUnreadable:
        raise Unsendable(Reason("mail_password_unreadable")) from None
    written = mail.mail_of(message, receiver.left or receiver.config["to"])
    return lambda: mail.send(written, server)


EMAIL = ChannelKind(
    key="email",
    label=gettext_lazy("e-mail"),
    fields=[ChannelField("to", gettext_lazy("Addresses"), gettext_lazy("One in each line."))],
    check=_check,
    sender=_sender,
    admits=admits_mail_server,
)
