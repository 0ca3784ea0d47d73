"""Tell browsers and caches what they may do: Content-Security-Policy, Permissions-Policy, Cache-Control.

Django has a middleware for the first from 6.0 on, which reads SECURE_CSP too; until then this one does.
"""

from collections.abc import Callable, Mapping, Sequence

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

Answer = Callable[[HttpRequest], HttpResponseBase]


class SecurityHeadersMiddleware:
    """Set each header where the view has set none of its own, as share pages and the bundle's files do."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._headers = {
            "Content-Security-Policy": policy_text(settings.SECURE_CSP),
            "Permissions-Policy": ", ".join(f"{feature}=()" for feature in settings.FEATURES_NOT_USED),
            # For this reader: no cache on the way keeps it for others. What shows a secret has "no-store" of its own.
            "Cache-Control": "private",
        }

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, with the headers."""
        response = self._answer(request)
        for name, value in self._headers.items():
            response.headers.setdefault(name, value)
        return response


def guarded(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Set the headers of every page on an answer that is given before the middleware is reached."""
    # Django's classes declare that they are given an HttpResponse; what they set is the same for any answer.
    framed = XFrameOptionsMiddleware(lambda _request: response)
    return SecurityHeadersMiddleware(SecurityMiddleware(framed))(request)  # type: ignore[arg-type]


def policy_text(policy: Mapping[str, Sequence[str]]) -> str:
    """Write a policy, sources by directive, as its header has it."""
    return "; ".join(" ".join((directive, *sources)) for directive, sources in policy.items())
