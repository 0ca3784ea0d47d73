"""Compress pages and documents: a page and its files stay within 200 kB. Static files are compressed by WhiteNoise."""

import re
import secrets
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from isal import igzip, isal_zlib

# ISA-L's second of four: a little smaller than zlib's first in an eighth of its time (decision 22).
_LEVEL = 2
# Less than one packet either way.
_LEAST_BYTES = 1_000
_COMPRESSIBLE = re.compile(r"text/(?!event-stream)|application/json|image/svg")
_ACCEPTED = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
# RFC 1952: a header of ten bytes, whose fourth says that a file's name follows.
_HEADER_BYTES, _FLAGS_AT, _HAS_NAME = 10, 3, 0b1000
_MOST_NAME_BYTES = 100
# zlib's way of asking for gzip's header and trailer.
_GZIP = zlib.MAX_WBITS | 16


class CompressionMiddleware(MiddlewareMixin):
    """Answer in gzip where the reader takes it and it pays; streams of events are left as they are."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the whole content, or a file that is sent in parts part by part, and say so."""
        if response.has_header("Content-Encoding") or not _COMPRESSIBLE.match(response.get("Content-Type", "")):
            return response
        if isinstance(response, HttpResponse) and len(response.content) < _LEAST_BYTES:
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        if _ACCEPTED.search(request.META.get("HTTP_ACCEPT_ENCODING", "")):
            if isinstance(response, StreamingHttpResponse):
                parts: Any = response.streaming_content
                response.streaming_content = _compressed_later(parts) if response.is_async else _compressed_parts(parts)
            elif isinstance(response, HttpResponse):
                response.content = compressed(response.content)
                response["Content-Length"] = str(len(response.content))
            response["Content-Encoding"] = "gzip"
        return response


def _compressed_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    gzip = isal_zlib.compressobj(_LEVEL, wbits=_GZIP)
    for part in parts:
        yield gzip.compress(part)
    yield gzip.flush()


async def _compressed_later(parts: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    gzip = isal_zlib.compressobj(_LEVEL, wbits=_GZIP)
    async for part in parts:
        yield gzip.compress(part)
    yield gzip.flush()


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
