"""What Django's test client answers, by its public shape: the class itself is private."""

from http.cookies import SimpleCookie
from typing import Any, Protocol

from django.http.response import ResponseHeaders
from django.test.utils import ContextList


class Response(Protocol):
    """An answer of a test client that is read whole."""

    status_code: int
    headers: ResponseHeaders
    cookies: SimpleCookie
    content: bytes
    context: ContextList | dict[str, Any]

    def __getitem__(self, header: str) -> str: ...

    def json(self) -> Any: ...

    def getvalue(self) -> bytes: ...
