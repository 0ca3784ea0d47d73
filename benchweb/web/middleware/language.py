"""The reader's language: the one chosen by the switch, else the browser's. What scripts read stays English."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

# Addresses that programs read: their words must not depend on who asks.
_FOR_PROGRAMS = ("/api/", "/livez", "/readyz", "/healthz", "/metrics")
# Scripts and formulas go by a file's words, whoever saved it.
_FILES_FOR_PROGRAMS = (".csv",)


class LanguageMiddleware(MiddlewareMixin):
    """Show pages in the reader's language, and answer programs in English.

    As Django's LocaleMiddleware, without what that does for addresses that begin with a language: there are none.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Choose the language of this request's thread."""
        translation.activate(
            "en" if is_for_programs(request.path_info) else translation.get_language_from_request(request)
        )
        request.LANGUAGE_CODE = translation.get_language()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Say the language; for programs it is one, so no cache needs to tell answers apart by it."""
        if not is_for_programs(request.path_info):
            patch_vary_headers(response, ("Accept-Language",))
            response.headers.setdefault("Content-Language", translation.get_language())
        return response


def is_for_programs(path: str) -> bool:
    """Tell whether programs read an address."""
    return path.startswith(_FOR_PROGRAMS) or path.endswith(_FILES_FOR_PROGRAMS)
