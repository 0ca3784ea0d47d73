"""The answers of receivers to messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchweb.catalog.reasons import Reason

# Of a receiver's answer so much is read, and so much is kept in the log.
MOST_READ_BYTES = 4_096
MOST_STORED = 500


@dataclass(frozen=True)
class ReceiverAnswer:
    """The receiver's own words; `error` is empty when the message was taken, `is_gone` when it wants no more."""

    status: int | None = None
    text: str = ""
    error: str = ""
    is_gone: bool = False
    # Of a mail that the server spoke about: what it said of each recipient, in the form of Delivery.recipients.
    recipients: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Recipient:
    """The states of a mail's recipient: the mail was taken for them, was refused for good, or is to come."""

    TAKEN, REFUSED, WAITING = "taken", "refused", "waiting"


def refusal_reason(recipients: Mapping[str, Mapping[str, str]]) -> str:
    """Say which recipients a mail did not reach, and why; nothing where it reached all."""
    missed = {address: each["answer"] for address, each in recipients.items() if each["state"] != Recipient.TAKEN}
    if not missed:
        return ""
    if len(missed) == len(recipients):
        return Reason("mail_refused")
    answers = "; ".join(f"{address}: {answer}" for address, answer in missed.items())
    return Reason("mail_refused_some", refused=len(missed), count=len(recipients), answers=answers)


def stored_text(answer: bytes | str) -> str:
    """Return the beginning of an answer as text that can be stored."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return "".join(character if character.isprintable() or character == "\n" else "�" for character in text)[
        :MOST_STORED
    ]
