"""Give each request an id, which its log lines and its answer bear: a proxy's where it sends one."""

import re
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

from benchweb.common.log_lines import LOGGED, logged_with

HEADER = "X-Request-ID"
# What nobody can write a second line or markup with.
_ID = re.compile(r"[A-Za-z0-9._:-]{1,80}")


class RequestIdMiddleware:
    """Outermost, so that a fault of any other is logged with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get(HEADER, "")
        request_id = sent if _ID.fullmatch(sent) else uuid4().hex
        # For what Django logs of the answer after all middleware, with the request.
        request.META[LOGGED] = request_id
        with logged_with(request=request_id):
            response = self._get_response(request)
        response.headers[HEADER] = request_id
        return response
