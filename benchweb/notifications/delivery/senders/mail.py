"""Mail by the operator's server, BENCHWEB_SMTP_URL: text and HTML."""

import smtplib
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.template.loader import render_to_string

from benchweb.catalog.reasons import Reason
from benchweb.notifications.delivery.messages import Message
from benchweb.notifications.delivery.senders.answers import Answer, stored_text

# Of each step of the conversation; the whole has a bound of its own.
STEP_SECONDS = 8


def send(message: Message, to: Sequence[str]) -> Answer:
    """Hand one mail to the server; its id is the message's, so that a second copy is known as such."""
    if not settings.EMAIL_HOST:
        return Answer(error=Reason("mail_without_server"))
    mail = EmailMultiAlternatives(
        subject=message.title,
        body=message.text,
        to=list(to),
        headers={"Message-ID": f"<{message.id}@{_domain()}>"},
        connection=get_connection(timeout=STEP_SECONDS),
    )
    mail.attach_alternative(render_to_string("notifications/mail.html", {"message": message}), "text/html")
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        refusals = [f"{address}: {code} {stored_text(text)}" for address, (code, text) in error.recipients.items()]
        code = next(iter(error.recipients.values()))[0]
        return Answer(code, "\n".join(refusals), Reason("mail_refused"))
    except smtplib.SMTPResponseException as error:
        return Answer(error.smtp_code, stored_text(error.smtp_error), Reason("mail_answered", status=error.smtp_code))
    except smtplib.SMTPException as error:
        return Answer(error=Reason("mail_failed", error=str(error)))
    return Answer(250, f"taken by {settings.EMAIL_HOST}")


def _domain() -> str:
    return settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">") or "benchweb.invalid"
