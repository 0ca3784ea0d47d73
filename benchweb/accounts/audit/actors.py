"""Tell PostgreSQL who acts, by a setting of the connection, whose triggers write it beside each change."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.http import HttpRequest

from benchweb.accounts.addresses import client_address
from benchweb.common.connection_actor import forget_actor, name_actor

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Requests that change nothing; whoever sends them isn't told to the database.
READ_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")


@dataclass(frozen=True)
class Actor:
    """Whoever acts, through what (as in `AuditEntry.Via`) and from which address."""

    via: str
    user_id: int | None = None
    user_name: str = ""
    token_id: int | None = None
    address: str = ""


_actor: ContextVar[Actor | None] = ContextVar("actor", default=None)


def actor_of(request: HttpRequest, user: "User | None", *, token_id: int | None = None) -> Actor:
    """Return who sends a request: a token's user, or the one who is logged in."""
    name = user.get_username() if user else ""
    via = "page" if token_id is None else "token"
    return Actor(via, user.pk if user else None, name, token_id, client_address(request))


def present_actor() -> Actor | None:
    """Return who acts now, for what a worker does later on in their name."""
    return _actor.get()


@contextmanager
def acting(actor: Actor | None) -> Iterator[None]:
    """Let what is changed meanwhile be the actor's, or that of whom `act_as` names later on."""
    before = present_actor()
    act_as(actor)
    try:
        yield
    finally:
        act_as(before)


def act_as(actor: Actor | None) -> None:
    """Let what is changed from now on be the actor's, on this connection and on those that follow it."""
    _actor.set(actor)
    if connection.connection is not None and not connection.connection.closed:
        _tell_actor(connection.connection, actor)


@receiver(connection_created, dispatch_uid="audit")
def _connection_created(*, connection: BaseDatabaseWrapper, **_: object) -> None:
    actor = _actor.get()
    if actor is not None:
        _tell_actor(connection.connection, actor)


def _tell_actor(to: "psycopg.Connection[Any]", actor: Actor | None) -> None:
    if actor:
        name_actor(to, json.dumps(asdict(actor)))
    else:
        forget_actor(to)
