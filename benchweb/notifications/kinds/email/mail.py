"""Mail by the site's mail server: text and HTML."""

import smtplib
from collections.abc import Mapping, Sequence

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.crypto import salted_hmac

from benchweb.catalog.reasons import Reason
from benchweb.notifications.answers import ReceiverAnswer, Recipient, refusal_reason, stored_text
from benchweb.notifications.messages import Message
from benchweb.site.mail import SiteEmailBackend
from benchweb.site.values import site_setting

# Of each step of the conversation; the whole has a bound of its own.
STEP_SECONDS = 8
# Another service than a mail server answers none of these. Its words stay unsaid: a reader may have no access to it.
_STATUSES = range(200, 600)
_REFUSED_FOR_GOOD = 500


def mail_of(message: Message, to: Sequence[str]) -> EmailMultiAlternatives:
    """Return the mail; its id is the message's, so that a second copy is known as such."""
    sender = site_setting("DEFAULT_FROM_EMAIL")
    mail = EmailMultiAlternatives(
        subject=message.title,
        body=message.text,
        from_email=sender,
        to=list(to),
        headers={"Message-ID": f"<{message.id}@{_domain(sender)}>"} | _thread(message, sender),
    )
    mail.attach_alternative(render_to_string("notifications/mail.html", {"message": message}), "text/html")
    return mail


def send(mail: EmailMultiAlternatives, server: SiteEmailBackend) -> ReceiverAnswer:
    """Hand one mail to the server, and return what it said of each recipient."""
    try:
        with server:
            server.send_messages([mail])
            refused = server.refused()
    except smtplib.SMTPRecipientsRefused as error:
        # Also of a server that hung up at one of them: then no other has the mail.
        return _refusal_answer(mail.to, error.recipients, Recipient.WAITING)
    except smtplib.SMTPResponseException as error:
        if error.smtp_code not in _STATUSES:
            return ReceiverAnswer(error=Reason("mail_not_spoken", host=server.host))
        return ReceiverAnswer(
            error.smtp_code, stored_text(error.smtp_error), Reason("mail_answered", status=error.smtp_code)
        )
    except smtplib.SMTPException as error:
        return ReceiverAnswer(error=Reason("mail_failed", error=str(error)))
    if refused:
        return _refusal_answer(mail.to, refused, Recipient.TAKEN)
    return ReceiverAnswer(
        250, f"taken by {server.host}", recipients={address: _recipient_state(Recipient.TAKEN) for address in mail.to}
    )


def _refusal_answer(to: Sequence[str], refused: Mapping[str, tuple[int, bytes]], others: str) -> ReceiverAnswer:
    answers = {address: refused.get(_on_the_wire(address)) for address in to}
    recipients = {
        address: _refusal(*answer) if answer else _recipient_state(others) for address, answer in answers.items()
    }
    lines = [f"{address}: {each['answer']}" for address, each in recipients.items() if each["answer"]]
    code = next(iter(refused.values()))[0]
    return ReceiverAnswer(code, stored_text("\n".join(lines)), refusal_reason(recipients), recipients=recipients)


def _on_the_wire(address: str) -> str:
    """Return an address as the server is told it: a domain in letters of its own is written in ASCII."""
    name, _, domain = address.rpartition("@")
    return f"{name}@{domain.encode('idna').decode()}"


def _refusal(code: int, text: bytes) -> dict[str, str]:
    state = Recipient.REFUSED if code >= _REFUSED_FOR_GOOD else Recipient.WAITING
    return _recipient_state(state, f"{code} {stored_text(text)}")


def _recipient_state(state: str, answer: str = "") -> dict[str, str]:
    return {"state": state, "answer": answer}


def _thread(message: Message, sender: str) -> dict[str, str]:
    """Return the headers by which mail programs put messages together; their first is known by name only."""
    if not message.thread:
        return {}
    # Others send of an alert 7 from this domain, too.
    key = salted_hmac("benchweb.notifications.thread", message.thread, algorithm="sha256").hexdigest()[:32]
    root = f"<thread_{key}@{_domain(sender)}>"
    return {"In-Reply-To": root, "References": root}


def _domain(sender: str) -> str:
    return sender.rpartition("@")[2].rstrip(">") or "benchweb.invalid"
