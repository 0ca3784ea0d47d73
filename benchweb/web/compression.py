"""Compress pages and documents: a page and its files stay within 200 kB. Static files are compressed by WhiteNoise."""

import re
import secrets

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from isal import igzip

# ISA-L's second of four: a little smaller than zlib's first in an eighth of its time (decision 22).
_LEVEL = 2
# Less than one packet either way.
_LEAST_BYTES = 1_000
_COMPRESSIBLE = re.compile(r"text/(?!event-stream)|application/json|image/svg")
_ACCEPTED = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
# RFC 1952: a header of ten bytes, whose fourth says that a file's name follows.
_HEADER_BYTES, _FLAGS_AT, _HAS_NAME = 10, 3, 0b1000
_MOST_NAME_BYTES = 100


class CompressionMiddleware(MiddlewareMixin):
    """Answer in gzip where the reader takes it and it pays; streams are left as they are."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the whole content, and say so."""
        if not isinstance(response, HttpResponse) or response.has_header("Content-Encoding"):
            return response
        if len(response.content) < _LEAST_BYTES or not _COMPRESSIBLE.match(response.get("Content-Type", "")):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        if _ACCEPTED.search(request.META.get("HTTP_ACCEPT_ENCODING", "")):
            response.content = compressed(response.content)
            response["Content-Length"] = str(len(response.content))
            response["Content-Encoding"] = "gzip"
        return response


def compressed(content: bytes) -> bytes:
    """Give content in gzip, its length blurred by a name of random length in the header.

    A page that repeats its address would else tell by its length whether a guess in the address is like a secret beside
    it (BREACH). Django's tokens against forgery are masked anew in each answer besides.
    """
    plain = igzip.compress(content, compresslevel=_LEVEL, mtime=0)
    header = bytearray(plain[:_HEADER_BYTES])
    header[_FLAGS_AT] |= _HAS_NAME
    name = b"-" * secrets.randbelow(_MOST_NAME_BYTES)
    return bytes(header) + name + b"\0" + plain[_HEADER_BYTES:]
