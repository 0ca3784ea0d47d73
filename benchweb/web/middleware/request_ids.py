"""Give each request an id, which its log lines and its answer have: a proxy's own where it sends one."""

import re
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

from benchweb.common.log_lines import logged_with

HEADER = "X-Request-ID"
# What nobody can write a second line or markup with.
_ID = re.compile(r"[A-Za-z0-9._:-]{1,80}")


class RequestIdMiddleware:
    """Outermost, so that a fault of any other is logged with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get(HEADER, "")
        request.id = sent if _ID.fullmatch(sent) else uuid4().hex  # type: ignore[attr-defined]
        with logged_with(request=request.id):  # type: ignore[attr-defined]
            response = self._get_response(request)
        response.headers[HEADER] = request.id  # type: ignore[attr-defined]
        return response
