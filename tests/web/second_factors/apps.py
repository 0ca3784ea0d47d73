"""An authenticator app: RFC 6238 by the standard library alone."""

import base64
import hashlib
import hmac
import struct
import time

PERIOD_SECONDS = 30


def code(key: str, *, periods_later: int = 0) -> str:
    """Return what an app shows that was given this key."""
    counter = struct.pack(">Q", int(time.time()) // PERIOD_SECONDS + periods_later)
    digest = hmac.new(base64.b32decode(key), counter, hashlib.sha1).digest()
    offset = digest[-1] & 0xF
    return f"{(int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF) % 1_000_000:06}"
