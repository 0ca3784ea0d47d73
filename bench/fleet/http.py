"""As much of HTTP/1.1 as the control protocol takes: kept-alive connections, JSON bodies, a chunked stream."""

import asyncio
import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

MAXIMUM_BODY_BYTES = 256 * 1024


@dataclass(frozen=True)
class Request:
    """One call."""

    method: str
    path: str
    query: dict[str, list[str]]
    token: str
    body: Any


class Refused(Exception):
    """An answer that is an error of the protocol."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read the next call of a connection; None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length") or 0)
    if length > MAXIMUM_BODY_BYTES:
        raise Refused(413, "too_large", "the body is longer than 256 KiB")
    data = await reader.readexactly(length) if length else b""
    url = urlsplit(target)
    token = headers.get("authorization", "").removeprefix("Bearer ")
    return Request(method, url.path, parse_qs(url.query), token, json.loads(data) if data else None)


def answer(writer: asyncio.StreamWriter, status: int, document: Any) -> None:
    """Answer with JSON."""
    data = json.dumps(document).encode()
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
    writer.write(head.encode() + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)


def answer_refused(writer: asyncio.StreamWriter, error: Refused) -> None:
    """Answer with an error of the protocol."""
    answer(writer, error.status, {"error": {"code": error.code, "message": error.message}})


def begin_stream(writer: asyncio.StreamWriter) -> None:
    """Begin a chunked answer of newline-delimited JSON."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")


def chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send a piece of it; an empty piece ends it."""
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
