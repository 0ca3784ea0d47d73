"""Accounts of people whom somebody else vouches for: made at their first log-in, kept as they are said to be."""

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from benchweb.accounts import throttle
from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.permissions import is_service, with_grants
from benchweb.accounts.user_names import has_other_letters, is_possible_name, users_of_name

_log = logging.getLogger(__name__)


def user_vouched_for(*, name: str) -> User | None:
    """Return the active account of a name, made now where the settings allow; None when it may not log in.

    An account with a password of its own belongs to whoever has that, unless the settings say that names are one.
    """
    # Looked up again: another request of the same person may have made it since.
    user = users_of_name(name).first() or user_made(name=name) or users_of_name(name).first()
    fault = _fault(name, user)
    if fault and throttle.is_first_in_window(f"vouched:{name}"):
        _log.warning("%s is not let in: %s", throttle.printable(name), fault)
    return None if fault else user


def _fault(name: str, user: User | None) -> str:
    if user is None:
        return (
            "there is no such account, and BENCHWEB_CREATE_USERS makes none"
            if is_possible_name(name)
            else "no account can have this name, see docs/how-to/log-in.md"
        )
    if not may_log_in(user):
        return "the account is deactivated, or nobody's to log in as"
    if has_other_letters(name, user.username):
        return "an account whose name has other letters is somebody else's, see 'manage.py rename_user'"
    if user.has_usable_password() and not settings.TRUST_NAMES:
        return "the account has a password of its own, see BENCHWEB_TRUST_NAMES"
    return ""


def user_made(*, name: str) -> User | None:
    """Make an account without a password; None where the settings or the name don't allow it."""
    if not settings.CREATE_USERS or not is_possible_name(name):
        return None
    try:
        with transaction.atomic():
            return User.objects.create_user(name)
    except IntegrityError:
        return None


def user_of_session(user_id: int) -> User | None:
    """Return the user of a session while the account may log in; their roles come with them."""
    user = with_grants(User.objects.filter(pk=user_id)).first()
    return user if user is not None and may_log_in(user) else None


def may_log_in(user: User) -> bool:
    """Tell whether an account is active and a person's, and not the demo's while the demo is off."""
    return user.is_active and not is_service(user) and not is_shut(user)


def mail_address_apply(*, user: User, email: str) -> None:
    """Store a mail address that differs from the stored one; what is none is left out."""
    if email == user.email:
        return
    try:
        validate_email(email)
    except ValidationError:
        return
    user.email = email
    user.save(update_fields=["email"])
