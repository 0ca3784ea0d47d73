"""Mail by the site's mail server: text and HTML."""

import smtplib
from collections.abc import Sequence

from django.core.mail import EmailMultiAlternatives, get_connection
from django.template.loader import render_to_string

from benchweb.catalog.reasons import Reason
from benchweb.notifications.delivery.messages import Message
from benchweb.notifications.delivery.senders.answers import Answer, stored_text
from benchweb.site.values import site_setting

# Of each step of the conversation; the whole has a bound of its own.
STEP_SECONDS = 8
# Another service than a mail server answers none of these. Its words stay unsaid: a reader may have no access to it.
_STATUSES = range(200, 600)


def mail_of(message: Message, to: Sequence[str]) -> EmailMultiAlternatives:
    """Return the mail; its id is the message's, so that a second copy is known as such.

    SecretUnreadable is raised when the server's password can't be read.
    """
    sender = site_setting("DEFAULT_FROM_EMAIL")
    mail = EmailMultiAlternatives(
        subject=message.title,
        body=message.text,
        from_email=sender,
        to=list(to),
        headers={"Message-ID": f"<{message.id}@{_domain(sender)}>"},
        connection=get_connection(timeout=STEP_SECONDS),
    )
    mail.attach_alternative(render_to_string("notifications/mail.html", {"message": message}), "text/html")
    return mail


def send(mail: EmailMultiAlternatives, host: str) -> Answer:
    """Hand one mail to the server, and return what it said."""
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        refusals = [f"{address}: {code} {stored_text(text)}" for address, (code, text) in error.recipients.items()]
        code = next(iter(error.recipients.values()))[0]
        return Answer(code, "\n".join(refusals), Reason("mail_refused"))
    except smtplib.SMTPResponseException as error:
        if error.smtp_code not in _STATUSES:
            return Answer(error=Reason("mail_not_spoken", host=host))
        return Answer(error.smtp_code, stored_text(error.smtp_error), Reason("mail_answered", status=error.smtp_code))
    except smtplib.SMTPException as error:
        return Answer(error=Reason("mail_failed", error=str(error)))
    return Answer(250, f"taken by {host}")


def _domain(sender: str) -> str:
    return sender.rpartition("@")[2].rstrip(">") or "benchweb.invalid"
