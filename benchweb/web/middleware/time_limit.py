"""Answer 503 to a page whose statement the database stopped by BENCHWEB_STATEMENT_SECONDS."""

import logging

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from benchweb.common.database_faults import took_too_long

_log = logging.getLogger(__name__)


class TimeLimitMiddleware(MiddlewareMixin):
    """Say what to do about a page that takes too long; the API's own handler answers for the API."""

    # The innermost middleware: Django then runs all of them in the thread of the view, one after the other, where it
    # would else go to a thread and back for each.
    async_capable = False

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for that one fault, and leave every other to Django."""
        if not took_too_long(exception):
            return None
        _log.error("%s %s was stopped by the time limit for statements", request.method, request.path)
        return render(request, "503.html", status=503)
