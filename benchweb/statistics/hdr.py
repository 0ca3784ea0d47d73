"""Read HDR histograms as engines send them: V2, deflated (hdrhistogram.org; the engine writes them in Rust)."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, log2

_COMPRESSED_COOKIE, _COOKIE = 0x1C849304, 0x1C849303
# The cookie's second-lowest digit is the width of a count in older encodings.
_WITHOUT_WIDTH = ~0xF0
_HEADER = struct.Struct(">iiiiqqd")
# A deflated kilobyte may inflate to a megabyte. Of three digits, as engines send, all counts of 64 bits are 0.5 MB.
_MAXIMUM_BYTES = 2 * 1024 * 1024
_MAXIMUM_DIGITS = 3
# Bins of a base-2 logarithm: each is 9 % wider than the one below it.
BINS_PER_OCTAVE = 8


class HistogramError(ValueError):
    """Bytes that are no deflated HDR histogram."""


@dataclass(frozen=True)
class Bins:
    """Counts by bin: bin k holds values from 2^(k/8) to 2^((k+1)/8) of the histogram's own unit."""

    counts: dict[int, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def quantile(self, share: float) -> float | None:
        """Return the middle of the bin that holds a quantile: at most 4.5 % off; None for an empty histogram."""
        left = share * self.total
        for bin_index, count in sorted(self.counts.items()):
            left -= count
            if left <= 0:
                return float(2 ** ((bin_index + 0.5) / BINS_PER_OCTAVE))
        return None

    def joined(self, other: "Bins") -> "Bins":
        """Add two histograms up."""
        counts = dict(self.counts)
        for bin_index, count in other.counts.items():
            counts[bin_index] = counts.get(bin_index, 0) + count
        return Bins(counts)


def binned(encoded: bytes) -> Bins:
    """Decode a histogram and put its values into bins; values below 1 are in bin 0. Raises HistogramError."""
    payload = _inflated(encoded)
    if len(payload) < _HEADER.size:
        raise HistogramError("The histogram's header is cut off.")
    cookie, length, _, digits, lowest, _, _ = _HEADER.unpack_from(payload)
    if cookie & _WITHOUT_WIDTH != _COOKIE & _WITHOUT_WIDTH or not 0 <= digits <= _MAXIMUM_DIGITS or lowest < 1:
        raise HistogramError("The histogram's header is none of HDR V2.")
    half_magnitude = max(ceil(log2(2 * 10**digits)), 1) - 1
    bins = _bins(half_magnitude, lowest.bit_length() - 1)
    counts: dict[int, int] = {}
    for index, count in _counts(payload[_HEADER.size : _HEADER.size + length]):
        if index >= len(bins):
            raise HistogramError("The histogram counts values beyond 64 bits.")
        bin_index = bins[index]
        counts[bin_index] = counts.get(bin_index, 0) + count
    return Bins(counts)


@cache
def _bins(half_magnitude: int, unit: int) -> list[int]:
    """Return the bin of the middle of each bucket, by the index of its count: all histograms of an engine have one."""
    half = 1 << half_magnitude
    bins = []
    for index in range(half * (64 - half_magnitude)):
        bucket = (index >> half_magnitude) - 1
        position = (index & (half - 1)) + half
        if bucket < 0:
            bucket, position = 0, position - half
        value = (position + 0.5) * 2.0 ** (bucket + unit)
        bins.append(int(log2(value) * BINS_PER_OCTAVE) if value > 1 else 0)
    return bins


def _inflated(encoded: bytes) -> bytes:
    if len(encoded) < 8:
        raise HistogramError("The histogram is cut off.")
    cookie, length = struct.unpack_from(">ii", encoded)
    if cookie & _WITHOUT_WIDTH != _COMPRESSED_COOKIE & _WITHOUT_WIDTH:
        raise HistogramError("The histogram is not a deflated one.")
    inflater = zlib.decompressobj()
    try:
        inflated = inflater.decompress(encoded[8 : 8 + length], _MAXIMUM_BYTES)
    except zlib.error as error:
        raise HistogramError("The histogram can't be inflated.") from error
    if not inflater.eof:
        raise HistogramError("The histogram is cut off, or larger than any histogram is.")
    return inflated


def _counts(data: bytes) -> Iterator[tuple[int, int]]:
    """Return each count that isn't zero with its index: ZigZag LEB128, a negative number being a run of zeros."""
    index, number, shift = 0, 0, 0
    for byte in data:
        # The ninth byte has all its bits: there is no tenth.
        if byte & 0x80 and shift < 56:
            number |= (byte & 0x7F) << shift
            shift += 7
            continue
        number |= byte << shift
        if number & 1:
            index += (number + 1) >> 1
        else:
            if number:
                yield index, number >> 1
            index += 1
        number = shift = 0
    if shift:
        raise HistogramError("The histogram's counts are cut off.")
