"""Who asks: Django's middleware, with the user who was read beside the session."""

from django.contrib.auth.middleware import AuthenticationMiddleware as DjangosMiddleware
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from benchweb.accounts.sessions import at_hand


class AuthenticationMiddleware(DjangosMiddleware):
    """Django's, which decides whether the session is the user's."""

    def process_request(self, request: HttpRequest) -> None:
        """Put the user on the request, to be found when first asked for."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _user(request))  # type: ignore[assignment]


def _user(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    with at_hand(request.session):
        return get_user(request)
