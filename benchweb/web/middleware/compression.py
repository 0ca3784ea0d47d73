"""Compress pages and documents by Django's middleware. Static files are compressed by WhiteNoise."""

import zlib
from collections.abc import AsyncIterator

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

_LEVEL = 6
# Gzip's head and foot around the largest window (zlib's manual, deflateInit2).
_GZIP_WINDOW_BITS = 31


class CompressionMiddleware(GZipMiddleware):
    """Django's, but for event streams, each of which would hold a compressor of 256 kB, and for downloads.

    Of an answer that is streamed by an asynchronous server Django 5.2 makes each part a gzip file of its own, of which
    browsers read the first alone.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress whatever is no event stream."""
        if response.get("Content-Type", "").startswith("text/event-stream"):
            return response
        parts = response.streaming_content if isinstance(response, StreamingHttpResponse) else None
        compressed: HttpResponseBase = super().process_response(request, response)
        if isinstance(parts, AsyncIterator) and compressed.get("Content-Encoding") == "gzip":
            compressed.streaming_content = _gzip_file(parts)  # type: ignore[attr-defined]
        return compressed


async def _gzip_file(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield one gzip file of all parts, as they come."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP_WINDOW_BITS)
    async for part in parts:
        if data := compressor.compress(part):
            yield data
    yield compressor.flush()
