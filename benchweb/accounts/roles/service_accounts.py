"""Service accounts: whom scripts and machines call the API as. Nobody logs in as one; admins make their tokens."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import SERVICE_PREFIX
from benchweb.accounts.roles.grants import RoleError, role_set
from benchweb.accounts.user_names import is_possible_name


def service_accounts() -> "QuerySet[User]":
    """Return all service accounts, by name."""
    return User.objects.filter(username__startswith=SERVICE_PREFIX).order_by("username")


def people() -> "QuerySet[User]":
    """Return all users who are no service accounts."""
    return User.objects.exclude(username__startswith=SERVICE_PREFIX)


def service_account_create(*, name: str, role: str, environment_id: int | None = None) -> User:
    """Make a service account with a role, everywhere or in an environment; raise RoleError for a name that can't be."""
    name = name.strip()
    # As long as with the prefix; its space is what no name of a person has.
    if not name or not is_possible_name(SERVICE_PREFIX.replace(" ", "-") + name):
        raise RoleError("name", _("A name has letters, digits and @ . + - _ only, without spaces, 142 at most."))
    try:
        with transaction.atomic():
            user = User.objects.create_user(SERVICE_PREFIX + name)
            role_set(role=role, user=user, environment_id=environment_id)
    except IntegrityError as error:
        raise RoleError("name", _("There is a service account of this name already.")) from error
    return user
