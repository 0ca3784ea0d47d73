"""Bound what a token may hand on: tokens bound as it is itself, or more, and no admin who isn't bound as it is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import ip_network

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchweb.accounts.models import ApiToken, Grant, Role, Team
from benchweb.accounts.permissions import Permission, access_of, users_who_may
from benchweb.accounts.services import USUAL_LIFE, TokenLimits
from benchweb.site.values import site_setting

_SCOPES = ApiToken.Scope.values


class BeyondBounds(Exception):
    """Somebody asked for more than their token is bound to; `field` asked for it, `message` says what and why.

    In English, as all that calls are answered.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def limits_within(token: ApiToken, wanted: TokenLimits, *, chosen: set[str]) -> TokenLimits:
    """Return the limits of a token that another one makes, which hands on what isn't `chosen`; raise BeyondBounds."""
    _demand_scope(token, wanted.scope)
    if "expires_at" not in chosen:
        wanted = replace(wanted, expires_at=_usual_end(token))
    elif token.expires_at and (wanted.expires_at is None or wanted.expires_at > token.expires_at):
        raise BeyondBounds("expires_at", _ends(token))
    if "networks" not in chosen:
        wanted = replace(wanted, networks=token.networks)
    else:
        _demand_networks(token, wanted.networks)
    if "environments" not in chosen:
        return replace(wanted, environment_ids=token.environment_ids)
    _demand_environments(token, wanted.environment_ids)
    return wanted


def link_lasts(token: ApiToken, wanted: datetime | None, *, usual: timedelta) -> timedelta:
    """Return how long a link is good that a token makes: `usual`, and never longer than the token."""
    now = timezone.now()
    if token.expires_at is None:
        return usual if wanted is None else wanted - now
    if wanted is not None and wanted > token.expires_at:
        raise BeyondBounds("expires_at", _ends(token))
    return min(now + usual, token.expires_at) - now if wanted is None else wanted - now


def share_ends(token: ApiToken, wanted: datetime | None, *, is_chosen: bool) -> datetime | None:
    """Return when a link ends that opens without a log-in: as `wanted`, and never after the token that makes it."""
    if token.networks:
        bound = ", ".join(token.networks)
        raise BeyondBounds("", f"This token is bound to {bound}: it can't make a link that opens from anywhere.")
    if token.expires_at is None or (wanted is not None and wanted <= token.expires_at):
        return wanted
    if is_chosen:
        raise BeyondBounds("expires_at", _ends(token))
    return token.expires_at


def demand_no_admin_link(token: ApiToken, *, role: str, teams: Sequence[Team], user: User | None) -> None:
    """Raise BeyondBounds where a link would let somebody in as an admin from anywhere, or for longer."""
    if not _is_bound(token):
        return
    if user is not None:
        if access_of(user).may(Permission.ADMIN):
            raise BeyondBounds("user", _no_admins(token))
    elif (role or site_setting("DEFAULT_ROLE")) == Role.ADMIN:
        raise BeyondBounds("role", _no_admins(token))
    elif Grant.objects.filter(team__in=teams, role=Role.ADMIN).exists():
        raise BeyondBounds("teams", _no_admins(token))


@contextmanager
def making_no_admin(token: ApiToken) -> Iterator[None]:
    """Undo what happens meanwhile, and raise BeyondBounds, where it makes an admin who isn't bound as the token is."""
    with transaction.atomic():
        before = _admins() if _is_bound(token) else set()
        yield
        if _is_bound(token) and _admins() - before:
            raise BeyondBounds("", _no_admins(token))


def _is_bound(token: ApiToken) -> bool:
    return bool(token.networks or token.expires_at)


def _admins() -> set[tuple[str, int]]:
    """Return who may do all, and the roles by which somebody would once they are active or in a team."""
    users = {("user", user.pk) for user in users_who_may(Permission.ADMIN, or_services=True)}
    return users | {("grant", pk) for pk in Grant.objects.filter(role=Role.ADMIN).values_list("pk", flat=True)}


def _usual_end(token: ApiToken) -> datetime:
    end = timezone.now() + USUAL_LIFE
    return min(end, token.expires_at) if token.expires_at else end


def _demand_scope(token: ApiToken, scope: str) -> None:
    if _SCOPES.index(scope) > _SCOPES.index(token.scope):
        raise BeyondBounds("scope", f"This token has the scope {token.scope}: it can't make one with more.")


def _demand_networks(token: ApiToken, networks: Sequence[str]) -> None:
    if not token.networks:
        return
    bound = ", ".join(token.networks)
    if not networks:
        raise BeyondBounds("networks", f"This token is bound to {bound}: it can't make one that is good from anywhere.")
    for index, network in enumerate(networks):
        if not any(_is_part(network, of=whole) for whole in token.networks):
            raise BeyondBounds(f"networks.{index}", f"This token is bound to {bound}, and {network} isn't within.")


def _is_part(network: str, *, of: str) -> bool:
    part, whole = ip_network(network), ip_network(of)
    return part.version == whole.version and part.subnet_of(whole)  # type: ignore[arg-type]


def _demand_environments(token: ApiToken, environment_ids: Sequence[int]) -> None:
    if not token.environment_ids:
        return
    bound = ", ".join(map(str, token.environment_ids))
    if not environment_ids:
        message = f"This token changes the environments {bound} only: it can't make one that changes all."
        raise BeyondBounds("environments", message)
    for index, number in enumerate(environment_ids):
        if number not in token.environment_ids:
            message = f"This token changes the environments {bound} only, and {number} isn't one of them."
            raise BeyondBounds(f"environments.{index}", message)


def _ends(token: ApiToken) -> str:
    end = "" if token.expires_at is None else token.expires_at.strftime("%Y-%m-%d %H:%M:%S")
    return f"This token ends at {end} UTC: what it makes can't be good for longer."


def _no_admins(token: ApiToken) -> str:
    if token.networks:
        bound = ", ".join(token.networks)
        return f"This token is bound to {bound}: it can't make anybody an admin, who would be one from anywhere."
    return f"{_ends(token)} So it can't make anybody an admin, who would be one after that."
