"""Note the answers that took long, for the page of the installation's health."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from benchweb.ops.health import slow_answers


class SlowPageMiddleware:
    """Measure an answer until its first byte: a stream of progress lasts as long as somebody watches."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        response = self._get_response(request)
        seconds = time.monotonic() - began
        # By its pattern: an address may hold what is secret, such as a share link's.
        if seconds >= slow_answers.SLOW_SECONDS and request.resolver_match:
            slow_answers.slow_answer_add(f"{request.method} /{request.resolver_match.route}", seconds)
        return response
