"""Signed webhooks, https://www.standardwebhooks.com, version 1.0."""

import base64
import binascii
import hashlib
import hmac
import json
import ssl
import time
from functools import cache
from urllib.parse import SplitResult, urlsplit

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.exceptions import HTTPError, SSLError

from benchweb.catalog.reasons import Reason
from benchweb.notifications import egress
from benchweb.notifications.answers import MOST_READ_BYTES, ReceiverAnswer, stored_text
from benchweb.notifications.messages import Message

SECRET_PREFIX = "whsec_"  # noqa: S105  # pragma: allowlist secret
SHORTEST_KEY_BYTES, LONGEST_KEY_BYTES = 24, 64
CONNECT_SECONDS, READ_SECONDS = 4.0, 9.0
GONE = 410
_PORTS = {"http": 80, "https": 443}


def signing_key(secret: str) -> bytes:
    """Return the key in a secret as Standard Webhooks writes it; raise ValueError with what it should be."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(SECRET_PREFIX) or not SHORTEST_KEY_BYTES <= len(key) <= LONGEST_KEY_BYTES:
        raise ValueError(
            f"A secret is {SECRET_PREFIX} and 24 to 64 bytes in base64: make one with "
            f'echo "{SECRET_PREFIX}$(openssl rand -base64 32)".'
        )
    return key


def signature(key: bytes, identifier: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header webhook-signature."""
    signed = b".".join((identifier.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def send(message: Message, url: str, secret: str) -> ReceiverAnswer:
    """Post the payload, following no redirect; 2xx is a success."""
    body = json.dumps(message.payload, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    now = int(time.time())
    parts = urlsplit(url)
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": "benchweb",
        "webhook-id": message.id,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(signing_key(secret), message.id, now, body),
    }
    try:
        return _posted_answer(parts, body, headers)
    except (HTTPError, OSError) as error:
        return ReceiverAnswer(error=_fault_reason(error, parts))


def _posted_answer(parts: SplitResult, body: bytes, headers: dict[str, str]) -> ReceiverAnswer:
    host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
    failure: Exception = OSError(Reason("receiver_host_without_address", host=host))
    for address in egress.resolved(host, port):
        try:
            response = _pool(parts.scheme, host, address, port).urlopen(
                "POST",
                parts._replace(scheme="", netloc="").geturl() or "/",
                body,
                headers,
                retries=False,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
            )
        except (HTTPError, OSError) as error:
            failure = error
            continue
        return _answer(response)
    raise failure


def _pool(scheme: str, host: str, address: str, port: int) -> HTTPConnectionPool:
    """Return connections to an address that was checked, with the certificate of the name that it was found by."""
    timeout = Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
    if scheme == "http":
        return HTTPConnectionPool(address, port, timeout=timeout)
    return HTTPSConnectionPool(
        address, port, timeout=timeout, ssl_context=_tls(), server_hostname=host, assert_hostname=host
    )


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _answer(response: BaseHTTPResponse) -> ReceiverAnswer:
    text = stored_text(response.read(MOST_READ_BYTES))
    response.close()
    status = response.status
    if 200 <= status < 300:
        return ReceiverAnswer(status, text)
    if status == GONE:
        return ReceiverAnswer(status, text, Reason("channel_gone"), is_gone=True)
    code = "receiver_redirects" if 300 <= status < 400 else "receiver_answered"
    return ReceiverAnswer(status, text, Reason(code, status=status))


def _fault_reason(error: Exception, parts: SplitResult) -> str:
    """Say what failed, without the address's path, which may be a secret."""
    if isinstance(error, SSLError) or isinstance(error.__cause__, ssl.SSLError):
        text = stored_text(str(error.__cause__ or error))
        return Reason("receiver_certificate", host=parts.hostname, error=text)
    cause = error.__cause__ if isinstance(error, HTTPError) and error.__cause__ is not None else error
    if isinstance(cause, TimeoutError):
        return Reason("receiver_too_slow", seconds=READ_SECONDS)
    text = getattr(cause, "strerror", None) or type(cause).__name__
    return Reason("receiver_host_unreachable", host=parts.hostname, error=text)
