"""What a view is going to read, taken along when its reader's session is read: one visit to PostgreSQL for both."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from benchweb.accounts.sessions import SessionStore
from benchweb.rows import Ahead

View = Callable[..., HttpResponseBase]


def reads_ahead(ask: Callable[[HttpRequest], Ahead | None]) -> Callable[[View], View]:
    """Have what `ask` tells of a request read beside the session; it may itself read nothing.

    It goes around what decides who may see the view (`login_required`): whoever is refused sees nothing of it.
    """

    def decorated(view: View) -> View:
        @wraps(view)
        def asked(request: HttpRequest, *words: Any, **named: Any) -> HttpResponseBase:
            if isinstance(request.session, SessionStore):
                request.session.ahead = ask(request)
            return view(request, *words, **named)

        return asked

    return decorated
