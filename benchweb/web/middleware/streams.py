"""Answers that stream keep no database connection while they wait for their reader."""

from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class StreamMiddleware(MiddlewareMixin):
    """Give the connection back before a stream begins; Django would keep it until the last byte is sent."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Close the connection of this thread; a part of the stream that reads opens its own."""
        if response.streaming and isinstance(request, ASGIRequest):
            close_old_connections()
        return response
