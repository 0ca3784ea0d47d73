"""CSV for spreadsheets: with `?bom=1` a file begins with the mark by which Excel knows that it is UTF-8."""

from itertools import chain

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
            response.streaming_content = chain([BYTE_ORDER_MARK], response.streaming_content)  # type: ignore[arg-type]
        elif isinstance(response, HttpResponse):
            response.content = BYTE_ORDER_MARK + response.content
        return response
