"""Tickets: a short-lived right to set up one engine and have its host added, listed and revocable.

What a host brings is the ticket's number, signed; the engine's token is derived from it, so that no secret is stored
before it is used.
"""

import base64
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.services import is_good_from, token_holder
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Enrolment

# To fetch the engine's token, and once more from then on to be added.
LIFE = timedelta(hours=1)
# A page that is opened again shows the ticket that it showed, while that leaves so much time.
_SHOWN_AGAIN = timedelta(minutes=30)
# What nobody used is listed for so long after its end.
_KEPT = timedelta(days=7)
_SALT = "benchweb.hosts.enrolment"


def ticket_issue(*, by: User, token: ApiToken | None = None, endpoint: Endpoint | None = None) -> Enrolment:
    """Issue a ticket: for a new host, or for an endpoint that is there already."""
    return Enrolment.objects.create(
        number=secrets.token_hex(8),
        issued_by=by,
        token=token,
        endpoint=endpoint,
        expires_at=timezone.now() + LIFE,
    )


def ticket_shown(*, by: User, endpoint: Endpoint | None = None) -> Enrolment:
    """Return the ticket that a page shows to its reader: the open one that it showed before, else a new one."""
    shown = tickets_open().filter(issued_by=by, token=None, endpoint=endpoint, claimed_at=None)
    return shown.filter(expires_at__gt=Now() + _SHOWN_AGAIN).first() or ticket_issue(by=by, endpoint=endpoint)


def ticket_text(ticket: Enrolment) -> str:
    """Return what a host brings: letters, digits, - _ and :."""
    return signing.dumps(ticket.number, salt=_SALT)


def ticket_token(ticket: Enrolment) -> str:
    """Return the token of the engine that a new host gets."""
    derived = salted_hmac(_SALT, ticket.number, secret=settings.SECRET_KEY, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(derived).decode().rstrip("=")


def ticket_found(text: str) -> Enrolment:
    """Return a ticket that is genuine, whether it is still good or not; raise HostsError."""
    try:
        number = signing.loads(text.strip(), salt=_SALT)
    except signing.BadSignature:
        number = ""
    ticket = _tickets().filter(number=number).first() if isinstance(number, str) else None
    if ticket is None:
        raise HostsError("ticket", _("This is not a ticket of this dashboard: copy the whole command from its page."))
    return ticket


def ticket_read(text: str, *, address: str) -> Enrolment:
    """Return a ticket that is good now, and for a host at this address; raise HostsError."""
    ticket = ticket_found(text)
    if fault := ticket_fault(ticket):
        raise HostsError("ticket", fault)
    if ticket.token is not None and not is_good_from(ticket.token, address):
        raise HostsError(
            "ticket",
            _(
                "The API token that issued this ticket is bound to networks in which {address} isn't: "
                "copy a command from the dashboard's page, or have a token issue it that is valid there."
            ).format(address=address),
        )
    return ticket


def ticket_fault(ticket: Enrolment) -> str:
    """Say why a ticket is no longer good; nothing of one that is."""
    if ticket.revoked_at is not None:
        return _("The ticket was revoked. Copy a new command from the dashboard.")
    if ticket.expires_at <= timezone.now():
        return _("The ticket has expired: it is valid for an hour. Copy a new command from the dashboard.")
    issuer = ticket.issued_by if ticket.token is None else token_holder(ticket.token)
    if issuer is None or is_shut(issuer) or not access_of(issuer).may(Permission.WRITE):
        return _("Who issued this ticket may add no hosts any more. Copy a new command from the dashboard.")
    return ""


def ticket_revoke(*, ticket_id: int) -> bool:
    """Let a ticket add nothing any more; False when it couldn't already."""
    return bool(tickets_open().filter(pk=ticket_id).update(revoked_at=Now()))


def tickets_revoke(*, endpoint_id: int) -> None:
    """Let the tickets for an endpoint's former token hand out no other."""
    tickets_open().filter(endpoint=endpoint_id).update(revoked_at=Now())


def tickets_listed() -> "QuerySet[Enrolment, Enrolment]":
    """Return all tickets, the newest first, with who issued them and what was added."""
    return _tickets().select_related("endpoint__host").order_by("-pk")


def tickets_open() -> "QuerySet[Enrolment, Enrolment]":
    """Return the tickets that are neither used up nor over."""
    return _tickets().filter(
        revoked_at=None, added_at=None, expires_at__gt=Now(), issued_by__is_active=True, token__revoked_at=None
    )


def remove_old() -> int:
    """Remove tickets that nobody used in time; return how many."""
    return Enrolment.objects.filter(claimed_at=None, expires_at__lt=Now() - _KEPT).delete()[0]


def _tickets() -> "QuerySet[Enrolment, Enrolment]":
    return Enrolment.objects.select_related("issued_by", "token__user")
