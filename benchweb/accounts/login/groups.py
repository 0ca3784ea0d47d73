"""Groups that a provider, a directory or a proxy says somebody is in: the setting gives each a role."""

import logging
from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import User

from benchweb.accounts import throttle
from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import forget_grants, highest_role, own_role
from benchweb.accounts.roles.grants import RoleError, role_set, role_take

_log = logging.getLogger(__name__)


def groups_apply(*, user: User, groups: Iterable[str]) -> None:
    """Set a user's role to the highest of these groups; who is in none of the setting's has the default role.

    Only without the setting are roles everywhere the dashboard's own; those in environments and of teams always are.
    The last admin stays one, whatever the groups say.
    """
    if not settings.GROUP_ROLES:
        return
    role = highest_role(Role(settings.GROUP_ROLES[name]) for name in groups if name in settings.GROUP_ROLES)
    if own_role(user) == role:
        return
    try:
        if role is not None:
            role_set(role=role, user=user)
        else:
            role_take(grant=Grant.objects.get(user=user, environment=None))
    except Grant.DoesNotExist:
        # Taken in the meantime.
        pass
    except RoleError as error:
        if throttle.is_first_in_window(f"groups:{user.pk}:{role}"):
            _log.warning("the role of %s stays as it is, see BENCHWEB_GROUP_ROLES: %s", ascii(user.username), error)
    forget_grants(user)
