"""Send files part by part, as they are read: no more of one is held than a part; imports no room."""

from collections.abc import AsyncIterator, Iterator
from itertools import chain

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, StreamingHttpResponse


def download(
    request: HttpRequest, parts: Iterator[str | bytes], *, media_type: str, file_name: str, is_inline: bool = False
) -> StreamingHttpResponse:
    """Answer with a file whose parts are read from the database while it is sent; `is_inline` has browsers show it.

    The first part is read at once: where that fails the answer is an error, not the beginning of a file.
    """
    whole: Iterator[str | bytes] = chain([next(parts, "")], parts)
    return StreamingHttpResponse(
        _read_in_threads(whole) if isinstance(request, ASGIRequest) else whole,
        # JSON is UTF-8 by itself (RFC 8259).
        content_type=f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        headers={"Content-Disposition": f'{"inline" if is_inline else "attachment"}; filename="{file_name}"'},
    )


async def _read_in_threads(parts: Iterator[str | bytes]) -> AsyncIterator[str | bytes]:
    while (part := await sync_to_async(_next)(parts)) is not None:
        yield part


def _next(parts: Iterator[str | bytes]) -> str | bytes | None:
    try:
        return next(parts, None)
    finally:
        # However slowly the part is taken, no connection waits for that.
        close_old_connections()
