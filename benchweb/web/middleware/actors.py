"""Tell the database who sends a request that may change something."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from benchweb.accounts.audit.actors import READ_METHODS, acting, actor_of


class ActorMiddleware:
    """Let changes be the user's who is logged in; the API names the token's user once it knows the token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        if request.method in READ_METHODS:
            return self.get_response(request)
        user = request.user if isinstance(request.user, User) else None
        with acting(actor_of(request, user)):
            return self.get_response(request)
