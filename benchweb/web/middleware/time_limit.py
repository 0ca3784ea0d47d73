"""Answer 503 to a page that takes too long, and stop one whose reader has left."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import psycopg
from django.core.exceptions import RequestAborted
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from benchweb.common.database_faults import took_too_long
from benchweb.common.exchange import NOBODY_WAITS, ExchangeEnd, ended_event, scope_of

# What a reader who left wanted to know; what was to be changed is changed to its end.
_READING = frozenset({"GET", "HEAD"})
_CANCEL_SECONDS = 5.0
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


def _statement_guard(ended: ExchangeEnd) -> Callable[..., Any]:
    def execute(run: Callable[..., T], sql: str, parameters: Any, many: bool, context: dict[str, Any]) -> T:
        # The connection is another request's only after this has been left.
        with ended.stopped_by(partial(_cancel, context["connection"].connection)):
            if ended.is_set():
                raise RequestAborted(NOBODY_WAITS)
            try:
                return run(sql, parameters, many, context)
            except DatabaseError as error:
                if ended.is_set() and took_too_long(error):
                    raise RequestAborted(NOBODY_WAITS) from error
                raise

    return execute


def _cancel(raw: "psycopg.Connection[Any]") -> None:
    """Ask PostgreSQL to end the statement under way; where that fails, its time limit does."""
    with suppress(psycopg.Error):
        raw.cancel_safe(timeout=_CANCEL_SECONDS)
