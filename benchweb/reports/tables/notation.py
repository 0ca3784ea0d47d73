"""Numbers in the tools' own notations; None is a dash."""

import math
from collections.abc import Sequence
from decimal import Decimal

from benchweb.documents.document import DocumentTable
from benchweb.reports.reported import Combination, combined

MISSING = "—"
_SIGNIFICANT = 3
_BINARY = ("", "K", "M", "G", "T")


def fixed(value: float | None, decimals: int = 2, *, factor: float = 1.0) -> str:
    """Write a value with so many decimals, or with as many as it has for three significant digits."""
    if value is None:
        return MISSING
    scaled = value * factor
    return f"{scaled:.{max(decimals, _significant_decimals(scaled))}f}"


def _significant_decimals(value: float) -> int:
    """Return how many decimals three significant digits take; of a number that has fewer, as many as it has."""
    if not value:
        return 0
    known = Decimal(f"{value:.12g}").normalize().as_tuple().exponent
    wanted = _SIGNIFICANT - 1 - math.floor(math.log10(abs(value)))
    return max(0, min(wanted, -known if isinstance(known, int) else 0))


def with_spread(values: Sequence[float], statistic: str, decimals: int, factor: float) -> str:
    """Write mean or median of some values, of several with the lowest, the highest and how many there are."""
    if not values:
        return MISSING
    middle = combined(values, statistic)
    written, low, high = (fixed(value, decimals, factor=factor) for value in (middle, min(values), max(values)))
    return f"{written} ({low}–{high}, n = {len(values)})" if len(values) > 1 else written


def count(value: float | None) -> str:
    """Write a whole number."""
    return MISSING if value is None else f"{value:.0f}"


def bytes_of_iperf(value: float | None) -> str:
    """Write an amount as iperf3 does: Bytes by 1,024, three digits (its units.c)."""
    return MISSING if value is None else _prefixed(value, 1024, "Bytes")


def rate_of_iperf(value: float | None) -> str:
    """Write a rate as iperf3 does: bits by 1,000, three digits."""
    return MISSING if value is None else _prefixed(value, 1000, "bits/sec")


def _prefixed(value: float, step: int, unit: str) -> str:
    index = 0
    while value >= step and index < len(_BINARY) - 1:
        value /= step
        index += 1
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f} {_BINARY[index]}{unit}"


def time_of_wrk(seconds: float | None) -> str:
    """Write a time as wrk does: us, ms or s with two decimals."""
    if seconds is None:
        return MISSING
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.2f}{unit}"
    return f"{seconds:.2f}s"


def rate_of_wrk(value: float | None) -> str:
    """Write a rate of requests as wrk does: thousands as k."""
    if value is None:
        return MISSING
    return f"{value / 1000:.2f}k" if value >= 1000 else f"{value:.2f}"


def percent(ratio: float | None, decimals: int = 2) -> str:
    """Write a share as a percentage."""
    return MISSING if ratio is None else f"{100 * ratio:.{decimals}f}%"


def repeated(combinations: list[Combination]) -> str:
    """Say how many repetitions the rows have: one number, or from and to."""
    counts = sorted({combination.n for combination in combinations})
    if not counts:
        return ""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"


def filled(tables: list[DocumentTable]) -> list[DocumentTable]:
    """Return the tables that have rows."""
    return [table for table in tables if table.rows]
