"""Compress pages and documents by Django's middleware. Static files are compressed by WhiteNoise."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressionMiddleware(GZipMiddleware):
    """Django's, but for event streams: each open one would hold a compressor of 256 kB."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress whatever is no event stream."""
        if response.get("Content-Type", "").startswith("text/event-stream"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
