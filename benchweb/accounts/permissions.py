"""Decide who may do what, in this one place; pages, API and templates ask it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import JSONObject

from benchweb.accounts.models import Grant, Role
from benchweb.site.values import site_setting

# Where a user's grants lie once they were read: what with_grants adds to a row.
_GRANTS = "grants_held"
# Where what a token allows lies on its user: what limit_access adds.
_LIMIT = "token_limit"
_ORDER = tuple(Role)
# How the names of service accounts begin. Names of people have no space, so none is ever taken for one.
SERVICE_PREFIX = "service "


class Permission(StrEnum):
    """A need of a page or a call; each has a lowest role that has it."""

    # See, compare, export; one's own views, preferences, sessions and tokens.
    READ = "read"
    # Launch, cancel, schedule, annotate, acknowledge, share, report, import.
    RUN = "run"
    # Hosts, endpoints, environments, pairs, plans, and what alerts are judged by.
    WRITE = "write"
    # Users, teams, channels and settings.
    ADMIN = "admin"

    @property
    def role(self) -> Role:
        """Return the lowest role that has it."""
        return _LOWEST[self]


_LOWEST = {
    Permission.READ: Role.VIEWER,
    Permission.RUN: Role.OPERATOR,
    Permission.WRITE: Role.EDITOR,
    Permission.ADMIN: Role.ADMIN,
}


@dataclass(frozen=True)
class AnyOf:
    """The environments that a host is in: a role in any of them reaches it; in none, only a role everywhere."""

    host_id: int
    environment_ids: frozenset[int]


# Where something is: in an environment, in several at once, or None for any.
Place = int | AnyOf | None


class Refused(PermissionDenied):
    """Somebody may not do what they asked for.

    `environment_id` or `host_id` when it is for want of a role in that environment, or in one that the host is in.
    `message` says more where there is more to say.
    """

    def __init__(
        self,
        permission: Permission,
        environment_id: int | None = None,
        message: str = "",
        host_id: int | None = None,
    ) -> None:
        super().__init__(message or f"This needs the role {permission.role.value}.")
        self.message = message
        self.permission = permission
        self.environment_id = environment_id
        self.host_id = host_id


@dataclass(frozen=True)
class Access:
    """A user's roles: one everywhere, and higher ones in some environments; nothing is allowed without a role."""

    everywhere: Role | None
    by_environment: Mapping[int, Role] = field(default_factory=dict)

    def may(self, permission: Permission) -> bool:
        """Tell whether the user has it everywhere."""
        return _allows(self.everywhere, permission)

    def may_in(self, permission: Permission, environment_id: int) -> bool:
        """Tell whether the user has it in an environment."""
        return self.may(permission) or _allows(self.by_environment.get(environment_id), permission)

    def may_somewhere(self, permission: Permission) -> bool:
        """Tell whether the user has it in any environment: enough to see a form, never to send it."""
        return self.may(permission) or any(_allows(role, permission) for role in self.by_environment.values())

    def demand(self, permission: Permission, places: Iterable[Place]) -> None:
        """Raise Refused unless the user has it in all of these places.

        What concerns none of them, or any (None), needs it everywhere. Who has it everywhere costs no query.
        """
        if self.may(permission):
            return
        wanted: set[Place] = set(places) or {None}
        refused = [place for place in wanted if not self._may_at(permission, place)]
        if refused:
            environment = min((place for place in refused if isinstance(place, int)), default=None)
            host = min((place.host_id for place in refused if isinstance(place, AnyOf)), default=None)
            raise Refused(permission, environment, host_id=host if environment is None else None)

    def _may_at(self, permission: Permission, place: Place) -> bool:
        if place is None:
            return False
        inside = place.environment_ids if isinstance(place, AnyOf) else [place]
        return any(self.may_in(permission, number) for number in inside)


NOBODY = Access(None)


@dataclass(frozen=True)
class AccessLimit:
    """The most that a token allows: a role, with more than reading only in these environments, if there are any."""

    role: Role | None
    environment_ids: frozenset[int]

    def applied(self, access: Access) -> Access:
        """Return what is left of a user's own access."""
        if not self.environment_ids:
            return Access(
                _lower_role(access.everywhere, self.role),
                {
                    number: role
                    for number, own in access.by_environment.items()
                    if (role := _lower_role(own, self.role))
                },
            )
        within = {
            number: role
            for number in self.environment_ids
            if (role := _lower_role(highest_role([access.everywhere, access.by_environment.get(number)]), self.role))
        }
        return Access(_lower_role(access.everywhere, _lower_role(self.role, Role.VIEWER)), within)


def access_of(user: User | AnonymousUser | None) -> Access:
    """Return what a user may do; one query, none for a row of with_grants.

    A role of their own goes before the default one; what teams and environments give only adds to it.
    """
    if user is None or not user.is_active:
        return NOBODY
    access = _access(user, _grants(user))
    limit: AccessLimit | None = getattr(user, _LIMIT, None)
    return limit.applied(access) if limit else access


def own_role(user: User) -> Role | None:
    """Return the role everywhere that was given to a user alone; one query, none for a row of with_grants."""
    own = (grant["role"] for grant in _grants(user) if grant["environment"] is None and grant["team"] is None)
    return highest_role(Role(role) for role in own)


def forget_grants(user: User) -> None:
    """Have the roles of a user looked up again, for they were changed."""
    if hasattr(user, _GRANTS):
        delattr(user, _GRANTS)


def limit_access(user: User, permission: Permission | None, environment_ids: Sequence[int]) -> None:
    """Let a user, as a token brings them, have no more than a permission; changes in these environments, if any."""
    setattr(user, _LIMIT, AccessLimit(permission.role if permission else None, frozenset(environment_ids)))


def with_grants(users: "QuerySet[User]") -> "QuerySet[User]":
    """Add to rows of users what access_of needs, so that it asks for nothing more."""
    return users.annotate(**{_GRANTS: grants_of("pk")})


def grants_of(user_id: str) -> ArraySubquery:
    """Return the grants, their own and their teams', of the user whose id is in this column of a query."""
    row = JSONObject(role="role", environment="environment_id", team="team_id")
    return ArraySubquery(_held_by(user_id).order_by("pk").values(row=row))


def _held_by(user_id: str) -> "QuerySet[Grant, Grant]":
    return Grant.objects.filter(Q(user=OuterRef(user_id)) | Q(team__members=OuterRef(user_id)))


def hand_grants(row: object, *, to: User) -> None:
    """Hand a user the grants that another row was read with, as `grants_held`."""
    setattr(to, _GRANTS, getattr(row, _GRANTS))


def is_service(user: User) -> bool:
    """Tell whether nobody logs in as this user: scripts call the API as it."""
    return user.get_username().startswith(SERVICE_PREFIX)


def users_who_may(permission: Permission, *, or_services: bool = False) -> list[User]:
    """Return the active people who have a permission everywhere, by name; only those who can have it are read."""
    roles = [role for role in Role if _allows(role, permission)]
    users = User.objects.filter(is_active=True)
    users = users if or_services else users.exclude(username__startswith=SERVICE_PREFIX)
    if site_setting("DEFAULT_ROLE") not in roles:
        users = users.filter(Q(is_superuser=True) | Exists(_held_by("pk").filter(environment=None, role__in=roles)))
    return [user for user in with_grants(users).order_by("username") if access_of(user).may(permission)]


def highest_role(roles: Iterable[Role | None]) -> Role | None:
    """Return the role that allows the most; None of none."""
    return max((role for role in roles if role is not None), key=_ORDER.index, default=None)


def _grants(user: User) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] | None = getattr(user, _GRANTS, None)
    if held is not None:
        return held
    return with_grants(User.objects.filter(pk=user.pk)).values_list(_GRANTS, flat=True).first() or []


def _lower_role(one: Role | None, other: Role | None) -> Role | None:
    return None if one is None or other is None else min(one, other, key=_ORDER.index)


def _access(user: User, grants: list[dict[str, Any]]) -> Access:
    by_environment: dict[int, Role] = {}
    own, of_teams = None, []
    for grant in grants:
        role, environment = Role(grant["role"]), grant["environment"]
        if environment is not None:
            by_environment[environment] = highest_role([role, by_environment.get(environment)]) or role
        elif grant["team"] is None:
            own = role
        else:
            of_teams.append(role)
    return Access(highest_role([own or default_role(user), *of_teams]), by_environment)


def default_role(user: User) -> Role:
    """Return the role that a user has who was given none; who was made at the console is the first admin.

    A service account is a viewer, whatever new users are: what it may do beyond that is what it was given.
    """
    if is_service(user):
        return Role.VIEWER
    return Role.ADMIN if user.is_superuser else Role(site_setting("DEFAULT_ROLE"))


def _allows(role: Role | None, permission: Permission) -> bool:
    return role is not None and _ORDER.index(role) >= _ORDER.index(permission.role)
