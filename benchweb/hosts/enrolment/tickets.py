"""Tickets: a signed, short-lived right to set up one engine and have its host added, issued without a row.

The engine's token is derived from the ticket's number, so that no secret is stored before it is used.
"""

import base64
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from benchweb.hosts.errors import HostsError

LIFE = timedelta(hours=1)
_SALT = "benchweb.hosts.enrolment"


@dataclass(frozen=True)
class Ticket:
    """Who issued it, and for what: a new host, or an endpoint that is there already."""

    number: str
    user_id: int
    endpoint_id: int | None = None

    @property
    def token(self) -> str:
        """Return the token of the engine that a new host gets."""
        derived = salted_hmac(_SALT, self.number, secret=settings.SECRET_KEY, algorithm="sha256").digest()
        return base64.urlsafe_b64encode(derived).decode().rstrip("=")


def ticket_issue(*, user_id: int, endpoint_id: int | None = None) -> str:
    """Return a new ticket as a text of letters, digits, - _ and :."""
    values = [secrets.token_hex(8), user_id, endpoint_id or 0]
    return signing.dumps(values, salt=_SALT)


def ticket_read(text: str, *, is_expired_too: bool = False) -> Ticket:
    """Return a ticket that is genuine and, unless told otherwise, still valid; raise HostsError."""
    life = None if is_expired_too else LIFE
    try:
        values: Any = signing.loads(text.strip(), salt=_SALT, max_age=life)
    except signing.SignatureExpired as error:
        raise HostsError(
            "ticket",
            _("The ticket has expired: it is valid for an hour. Copy a new command from the dashboard."),
        ) from error
    except signing.BadSignature as error:
        raise HostsError(
            "ticket", _("This is not a ticket of this dashboard: copy the whole command from its page.")
        ) from error
    number, user_id, endpoint_id = values
    return Ticket(number, user_id, endpoint_id or None)
