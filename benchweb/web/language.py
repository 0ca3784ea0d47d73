"""The reader's language: the one chosen by the switch, else the browser's. What scripts read stays English."""

from contextvars import ContextVar
from gettext import NullTranslations

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


class ActiveLanguage:
    """Where Django keeps the translation of a request, asked four hundred times a page: a plain context variable.

    asgiref's Local, in whose place it is set (benchweb.asgi), takes a lock and compares threads each time. There each
    request has a context of its own.
    """

    def __init__(self) -> None:
        self._value: ContextVar[NullTranslations | None] = ContextVar("active_language", default=None)

    @property
    def value(self) -> NullTranslations:
        """The translation; AttributeError where none is active, as Django expects."""
        value = self._value.get()
        if value is None:
            raise AttributeError("value")
        return value

    @value.setter
    def value(self, value: NullTranslations) -> None:
        self._value.set(value)

    @value.deleter
    def value(self) -> None:
        self._value.set(None)
