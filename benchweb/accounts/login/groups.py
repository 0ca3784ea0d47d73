"""Groups that a provider, a directory or a proxy says somebody is in: the setting gives each a role."""

from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import User

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import highest


def groups_apply(*, user: User, groups: Iterable[str]) -> None:
    """Give a user the highest role of these groups; who is in none of the setting's has the default role.

    Only without the setting are roles everywhere the dashboard's own; those in environments and of teams always are.
    """
    if not settings.GROUP_ROLES:
        return
    role = highest(Role(settings.GROUP_ROLES[name]) for name in groups if name in settings.GROUP_ROLES)
    own = Grant.objects.filter(user=user, environment=None)
    if role is None:
        own.delete()
    elif not own.filter(role=role).exists():
        Grant.objects.update_or_create(user=user, team=None, environment=None, defaults={"role": role})
