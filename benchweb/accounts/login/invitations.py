"""Invitations: a link, good once, by which somebody makes their account or sets a password.

An admin makes it, and it is good only while that one is an admin. It is shown or mailed when it is made, never again.
"""

import hashlib
import logging
import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from benchweb.accounts.credentials import credentials_end
from benchweb.accounts.login.password_reset import can_mail, mail_link
from benchweb.accounts.models import Invitation
from benchweb.accounts.permissions import Permission, access_of, users_who_may
from benchweb.accounts.roles.grants import RoleError, user_add
from benchweb.site.mail import MAIL_FAULTS

_log = logging.getLogger(__name__)


def invitation_create(
    *,
    by: User,
    lasts: timedelta,
    email: str = "",
    role: str = "",
    team_ids: Sequence[int] = (),
    user: User | None = None,
) -> tuple[Invitation, str]:
    """Make an invitation, for an account that stands or for a new one; return the row and the token of its link."""
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        digest=_digest(token),
        user=user,
        email=email,
        role=role,
        team_ids=list(team_ids),
        created_by=by,
        expires_at=timezone.now() + lasts,
    )
    return invitation, token


def invitation_path(token: str) -> str:
    """Return the path of a link."""
    return reverse("web:invitation", args=[token])


def invitation_mail(*, invitation: Invitation, token: str) -> bool:
    """Mail the link to whom it is for; False without an address or mail server, or when that one doesn't take it."""
    if not invitation.email or not can_mail():
        return False
    until = date_format(timezone.localtime(invitation.expires_at), "DATETIME_FORMAT")
    try:
        mail_link(
            to=invitation.email,
            subject=_("Your account on benchweb"),
            text=_text(invitation),
            path=invitation_path(token),
            ending=_("The link works once, until {until}.").format(until=until),
        )
    except MAIL_FAULTS as error:
        _log.warning("the invitation could not be mailed to %s: %s", ascii(invitation.email), error)
        return False
    return True


def open_invitations() -> "QuerySet[Invitation, Invitation]":
    """Return the invitations that are good now, the newest first."""
    admins = [user.pk for user in users_who_may(Permission.ADMIN, or_services=True)]
    return _unused_invitations().filter(created_by__in=admins).exclude(user__is_active=False)


def invitation_of_token(token: str) -> Invitation | None:
    """Return the invitation of a link while it is good."""
    invitation = _unused_invitations().filter(digest=_digest(token)).select_related("user", "created_by").first()
    if invitation is None or not access_of(invitation.created_by).may(Permission.ADMIN):
        return None
    return invitation if invitation.user is None or invitation.user.is_active else None


def invitation_accept(*, invitation: Invitation, name: str, password: str) -> User:
    """Return the account, made or with another password, which alone opens it; raise RoleError for a bad name."""
    # Hashing takes long: nothing is locked meanwhile.
    hashed = make_password(password)
    with transaction.atomic():
        if not _unused_invitations().filter(pk=invitation.pk).update(used_at=Now()):
            raise RoleError("", _("This link was used in the meantime."))
        user = invitation.user or user_add(
            name=name, email=invitation.email, role=invitation.role, team_ids=invitation.team_ids
        )
        user.password = hashed
        user.save(update_fields=["password"])
        credentials_end(user=user)
        Invitation.objects.filter(pk=invitation.pk).update(used_by=user)
    return user


def invitation_revoke(*, invitation_id: int) -> bool:
    """Make a link void; False when it is already."""
    return bool(_unused_invitations().filter(pk=invitation_id).update(revoked_at=Now()))


def _text(invitation: Invitation) -> str:
    admin = invitation.created_by.get_username()
    if invitation.user is None:
        return _("{admin} invites you to benchweb. Choose a name and a password on this page:").format(admin=admin)
    text = _("{admin} asks you to set the password of your account {name} on this page:")
    return text.format(admin=admin, name=invitation.user.get_username())


def _unused_invitations() -> "QuerySet[Invitation, Invitation]":
    return Invitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=Now())


def _digest(token: str) -> str:
    # Of 256 random bits: a plain hash is enough.
    return hashlib.sha256(token.encode()).hexdigest()
