"""Refuse pages' requests with text that PostgreSQL can't store, before a view asks it."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext, gettext_noop

_REFUSAL = gettext_noop("The address or the form holds a NUL character, which can't be stored: leave it out.")


class StorableTextMiddleware(MiddlewareMixin):
    """Answer 400 to NUL characters in a page's query string or form; the API's parser has its own answer."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """Look before the view runs; `args` and `kwargs` come from the path, which holds numbers only."""
        # A share link asks the database for its token's digest only, and answers with headers of its own.
        is_link = request.path_info.startswith("/s/")
        is_page = request.resolver_match is not None and request.resolver_match.app_name == "web" and not is_link
        # In a query string it can only be written like this; most have none.
        in_query = "%00" in request.META["QUERY_STRING"] and _has_nul(request.GET)
        if is_page and (in_query or (request.method == "POST" and _has_nul(request.POST))):
            return HttpResponseBadRequest(gettext(_REFUSAL), content_type="text/plain; charset=utf-8")
        return None


def _has_nul(data: QueryDict) -> bool:
    return any("\0" in text for name, values in data.lists() for text in (name, *values))
