"""Log-ins, log-outs, wrong passwords, refusals, downloads and uses of tokens in the audit log.

Whoever repeats them in a loop fills no disk: an equal refusal is one entry in a window of the throttle, and of each
kind there are few for a user at an address, or for a stranger's, the last of which says so.
"""

from datetime import UTC
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from benchweb.accounts import throttle
from benchweb.accounts.addresses import address_group, client_address
from benchweb.accounts.audit.actors import Actor, actor_of
from benchweb.accounts.audit.link_log import without_links
from benchweb.accounts.audit.models import AuditEntry

_LONGEST_NAME = 150
_LONGEST_WORDS = 200
_NO_NUL = str.maketrans({"\0": "\N{REPLACEMENT CHARACTER}"})


def refusal_add(actor: Actor, *, what: str) -> None:
    """Note that somebody was refused `what`: a request's method and path, and why."""
    _entry_add(AuditEntry.Action.REFUSED, actor, object_name=_told_text(what))


def download_add(actor: Actor, *, what: str) -> None:
    """Note that somebody was sent a file, by its path."""
    _entry_add(AuditEntry.Action.DOWNLOADED, actor, object_name=_told_text(what))


def use_add(actor: Actor, *, name: str) -> None:
    """Note that the actor's token is used, the first time on a day (UTC) from an address."""
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    table, action = "accounts_apitoken", AuditEntry.Action.USED
    of_token = AuditEntry.objects.filter(table=table, object_id=actor.token_id, action=action)
    if not of_token.filter(address=actor.address, at__gte=today).exists():
        _entry_add(action, actor, object_name=name, table=table, object_id=actor.token_id)


def _told_text(what: str) -> str:
    return without_links(what.translate(_NO_NUL))[:_LONGEST_WORDS]


def _entry_add(
    action: str, actor: Actor, *, object_name: str = "", table: str = "", object_id: int | None = None
) -> None:
    left = throttle.entries_left(
        action, _counted_key(actor), f"{object_name}:{actor.address}" if table else object_name
    )
    if left is None:
        return
    if left == 0:
        more = f" (further ones in the next {throttle.seconds_left()} s are left out: too many)"
        object_name = object_name[: _LONGEST_WORDS - len(more)] + more
    AuditEntry.objects.create(
        at=timezone.now(),
        action=action,
        via=actor.via,
        user_id=actor.user_id,
        user_name=actor.user_name[:_LONGEST_NAME],
        token_id=actor.token_id,
        address=actor.address,
        table=table,
        object_id=object_id,
        object_name=object_name,
    )


def _counted_key(actor: Actor) -> str:
    """Return whose entries are counted together."""
    where = address_group(actor.address)
    # Whoever has stolen a password or token hides nothing of what they do from elsewhere.
    return f"user-{actor.user_id}:{where}" if actor.user_id else where


@receiver(user_logged_in, dispatch_uid="audit")
def _logged_in(*, request: HttpRequest, user: User, **_: Any) -> None:
    _entry_add(AuditEntry.Action.LOGGED_IN, actor_of(request, user))


@receiver(user_logged_out, dispatch_uid="audit")
def _logged_out(*, request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        _entry_add(AuditEntry.Action.LOGGED_OUT, actor_of(request, user))


@receiver(user_login_failed, dispatch_uid="audit")
def _login_failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    name = str(credentials.get("username") or credentials.get("proxy_user", "")).translate(_NO_NUL)
    address = client_address(request) if request else ""
    _entry_add(AuditEntry.Action.LOGIN_FAILED, Actor("page", None, name, None, address))
