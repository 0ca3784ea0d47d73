"""CSV for spreadsheets: with `?bom=1` a file begins with the mark by which Excel knows that it is UTF-8."""

from collections.abc import AsyncIterator
from itertools import chain
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

BYTE_ORDER_MARK = "\ufeff".encode()


class SpreadsheetMiddleware(MiddlewareMixin):
    """Put the byte order mark before every CSV that is asked for with `?bom=1`, of pages and API alike."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Change nothing else, and no answer of another type."""
        if request.GET.get("bom") != "1" or not response.headers.get("Content-Type", "").startswith("text/csv"):
            return response
        if isinstance(response, StreamingHttpResponse):
            parts: Any = response.streaming_content
            response.streaming_content = _marked_parts(parts) if response.is_async else chain([BYTE_ORDER_MARK], parts)
        elif isinstance(response, HttpResponse):
            response.content = BYTE_ORDER_MARK + response.content
        return response


async def _marked_parts(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield BYTE_ORDER_MARK
    async for part in parts:
        yield part
