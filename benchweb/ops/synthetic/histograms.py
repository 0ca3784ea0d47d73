"""Write a latency histogram as the engine does: HDR version 2, compressed, in nanoseconds, up to an hour."""

import struct
import zlib
from collections.abc import Iterable

_COOKIE, _COMPRESSED_COOKIE = 0x1C849313, 0x1C849314
_LOWEST_NS, _HIGHEST_NS, _DIGITS = 1, 3_600_000_000_000, 3
# With three digits 2,048 values are told apart exactly; each doubling beyond has half as many places again.
_EXACT_BITS = 11
_HALF_BITS = _EXACT_BITS - 1


def encoded_histogram(counts: Iterable[tuple[float, int]]) -> bytes:
    """Encode (seconds, how many), which must rise; what falls into one index is added up."""
    count_at: dict[int, int] = {}
    for seconds, count in counts:
        index = _index(max(_LOWEST_NS, min(_HIGHEST_NS, round(seconds * 1e9))))
        count_at[index] = count_at.get(index, 0) + count
    payload = b"".join(_words(sorted(count_at.items())))
    head = struct.pack(">IIIIqqd", _COOKIE, len(payload), 0, _DIGITS, _LOWEST_NS, _HIGHEST_NS, 1.0)
    compressed = zlib.compress(head + payload, 1)
    return struct.pack(">II", _COMPRESSED_COOKIE, len(compressed)) + compressed


def _index(value_ns: int) -> int:
    doubling = max(0, value_ns.bit_length() - _EXACT_BITS)
    return ((doubling + 1) << _HALF_BITS) + (value_ns >> doubling) - (1 << _HALF_BITS)


def _words(counts: Iterable[tuple[int, int]]) -> Iterable[bytes]:
    """Return each count, and a run of empty indexes as its negative length."""
    following = 0
    for index, count in counts:
        if index > following:
            yield _variable_length(2 * (index - following) - 1)
        yield _variable_length(2 * count)
        following = index + 1


def _variable_length(zigzag: int) -> bytes:
    """Return seven bits a byte, the least first, the eighth set while there are more (zigzag: the sign is bit 0)."""
    encoded = bytearray()
    while zigzag > 127:
        encoded.append(zigzag & 127 | 128)
        zigzag >>= 7
    encoded.append(zigzag)
    return bytes(encoded)
