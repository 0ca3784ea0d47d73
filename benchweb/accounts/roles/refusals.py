"""Refusals for want of a role, in the audit log."""

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from benchweb.accounts.audit.actors import actor_of
from benchweb.accounts.audit.logins import refusal_add
from benchweb.accounts.permissions import Refused


def refusal_noted(
    request: HttpRequest, user: User | AnonymousUser, refused: Refused, *, token_id: int | None = None
) -> None:
    """Write down who was refused what, and which role it takes."""
    actor = actor_of(request, user if isinstance(user, User) else None, token_id=token_id)
    refusal_add(actor, what=f"{request.method} {request.path_info}: {refused}")
