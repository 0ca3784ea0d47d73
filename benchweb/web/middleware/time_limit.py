"""Answer 503 to a page that takes too long, and stop one whose reader has left."""

import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from django.core.exceptions import RequestAborted
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from benchweb.common.database_faults import took_too_long
from benchweb.common.exchange import ended_event, scope_of

# What a reader who left wanted to know; what was to be changed is changed to its end.
_READING = frozenset({"GET", "HEAD"})
T = TypeVar("T")
_log = logging.getLogger(__name__)


class TimeLimitMiddleware(MiddlewareMixin):
    """Say what to do about a page that takes too long; the API's own handler answers for the API."""

    # The innermost middleware: Django then runs all of them in the thread of the view, one after the other, where it
    # would else go to a thread and back for each.
    async_capable = False

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answer a request; its statements end when its reader leaves or its time is over."""
        if request.method not in _READING:
            return super().__call__(request)
        with connection.execute_wrapper(_statement_guard(ended_event(scope_of(request)))):
            return super().__call__(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for these two faults, and leave every other to Django."""
        if isinstance(exception, RequestAborted):
            return HttpResponse(status=503)
        if not took_too_long(exception):
            return None
        _log.error("%s %s was stopped by the time limit for statements", request.method, request.path)
        return render(request, "503.html", status=503)


def _statement_guard(ended: threading.Event) -> Callable[..., Any]:
    def execute(run: Callable[..., T], sql: str, parameters: Any, many: bool, context: dict[str, Any]) -> T:
        if ended.is_set():
            raise RequestAborted("Nobody waits for this answer any more.")
        return run(sql, parameters, many, context)

    return execute
