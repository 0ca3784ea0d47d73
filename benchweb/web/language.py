"""The reader's language: the one chosen by the switch, else the browser's. What scripts read stays English."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

# Addresses that programs read: their words must not depend on who asks.
_FOR_PROGRAMS = ("/api/", "/healthz", "/metrics")


class LanguageMiddleware(LocaleMiddleware):
    """Show pages in the reader's language, and answer programs in English."""

    def process_request(self, request: HttpRequest) -> None:
        """Choose the language of this request's thread."""
        if not request.path.startswith(_FOR_PROGRAMS):
            super().process_request(request)
            return
        translation.activate("en")
        request.LANGUAGE_CODE = "en"

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Say the language; for programs it is one, so no cache needs to tell answers apart by it."""
        return response if request.path.startswith(_FOR_PROGRAMS) else super().process_response(request, response)
