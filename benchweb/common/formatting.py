"""The one formatter of numbers on the server, and reader of typed ones; frontend/src/text/format.ts is its twin."""

import re
from functools import cache
from typing import NamedTuple

from django.utils.translation import get_language, gettext

MISSING = "—"
MINUS = "\N{MINUS SIGN}"
# By the exponent of a thousand.
_PREFIXES = {
    4: (1e12, "T"),
    3: (1e9, "G"),
    2: (1e6, "M"),
    1: (1e3, "k"),
    0: (1.0, ""),
    -1: (1e-3, "m"),
    -2: (1e-6, "µ"),
    -3: (1e-9, "n"),
}
_BINARY = [(2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki")]
_TYPED = re.compile(r"([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?) ?([kKMGT]i?)?(?:B|s|bit/s)?")
MULTIPLIERS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
MULTIPLIERS |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# Units that are words keep apart from their prefix: 728 k pkt/s, but 16.3 Gbit/s.
_WORDS = ("pkt", "transactions", "connections", "requests", "segments", "errors", "responses", "probes", "operations")
# What is counted: 3 of them are 3, and not 3.00.
_COUNTED = {*_WORDS, "replies"}
# One of what is counted, where the language tells it from several.
_ONE_OF = {
    "segments": "segment",
    "errors": "error",
    "responses": "response",
    "probes": "probe",
    "replies": "reply",
    "requests": "request",
    "connections": "connection",
    "transactions": "transaction",
    "operations": "operation",
}
# A spread of more than one part in so many of the median is told as a range.
_RANGE_FROM = 3
# Already a ratio of two units: a prefix would read as one of them.
_WITHOUT_PREFIX = {"", "s/GB"}
_MOST_DIGITS = 12
_LEAST_PREFIXED = 1_000
# Up to here so many digits need no rounding to the next power of ten.
_WHOLE_BELOW = {2: 99, 3: 999}
# Of a change in per cent.
_FINE_BELOW, _WHOLE_FROM = 0.995, 99.95
# Longer than two days is told in days: nobody divides 521 h by 24.
_HOURS_UNTIL = 48


# A frozen dataclass would take twice as long to make, and a page shows hundreds.
class Quantity(NamedTuple):
    """A number split for display: `16.3` and `Gbit/s`; `full` is the whole value for the title."""

    number: str
    unit: str
    full: str

    def __str__(self) -> str:
        return f"{self.number} {self.unit}".rstrip()


def quantity(value: float | None, unit: str = "") -> Quantity:
    """Return three significant digits with an SI prefix; sizes in bytes get binary prefixes, ratios per cent."""
    if value is None:
        return Quantity(MISSING, "", "missing")
    return Quantity(*three_digits(value, unit), _full(value, "" if unit == "ratio" else unit))


def three_digits(value: float, unit: str) -> tuple[str, str]:
    """Return a quantity's number and unit alone."""
    if unit == "ratio":
        return significant(value * 100), "%"
    if unit == "B" and _is_frame_size(value):
        return f"{value:,.0f}", "B"
    factor, unit_in_use = _scale(value, unit)
    if unit in _COUNTED and value == int(value) and abs(value) < _LEAST_PREFIXED:
        return _number_with_minus(f"{value:.0f}"), _ONE_OF.get(unit_in_use, unit_in_use) if value == 1 else unit_in_use
    return significant(value / factor), unit_in_use


def significant(value: float, digits: int = 3) -> str:
    """Return so many significant digits without an exponent: 16.3, 0.0123, 1230."""
    if 1 <= value < _WHOLE_BELOW.get(digits, 0):
        # Most figures, once scaled; Python says the same at once: 5.00, 16.3, and "123." with its point.
        return f"{value:#.{digits}g}".rstrip(".")
    if value == 0:
        return "0"
    rounded = f"{value:.{digits - 1}e}"
    decimals = digits - 1 - _exponent(rounded)
    return _number_with_minus(f"{float(rounded):.{min(max(0, decimals), _MOST_DIGITS)}f}")


def spread(median: float, low: float, high: float, unit: str = "") -> str:
    """Say how far repetitions lie from their median: ±1.2 % is the farthest of them, so that none lies outside.

    Where that share would mislead, the extremes are given, 3.00–9.00 ms: from a third of the median on, where
    it could be read as an estimate that goes both ways alike; of percentages, where it would be taken for points; and
    of what is counted.
    """
    farthest = max(high - median, median - low)
    if unit == "ratio" or unit in _COUNTED or farthest * _RANGE_FROM > abs(median):
        # Nothing is nothing in any unit, and no point or per cent is meant.
        return "±0" if low == high else _range_text(low, high, unit)
    return f"±{significant(farthest / abs(median) * 100, digits=2)} %" if farthest else "±0 %"


def repetitions(median: float, extremes: tuple[float, float] | None, unit: str, n: int) -> str:
    """Say what stands behind a median: how far its repetitions lie from it, where there are several, and how many."""
    spread_text = spread(median, *extremes, unit) if extremes and n > 1 else ""
    return f"{spread_text} · n={n}" if spread_text else f"n={n}"


def _range_text(low: float, high: float, unit: str) -> str:
    (first, first_unit), (last, last_unit) = three_digits(low, unit), three_digits(high, unit)
    # One of what is counted has the unit's singular, which is no other unit.
    if first_unit != last_unit and low and first_unit not in _ONE_OF.values():
        first = f"{first} {first_unit}"
    dash = "–" if low >= 0 else " – "
    return f"{first}{dash}{last} {last_unit}".rstrip()


def signed_percent(ratio: float) -> str:
    """Say a change in per cent with its sign, as everywhere: +4.1 %, −21.2 %, +913 %, −0.42 %; 0 % has none."""
    return f"{signed_hundredths(ratio)} %"


def signed_hundredths(share: float) -> str:
    """Return a share's hundredths with their sign: to a tenth, finer below one, whole from a hundred on."""
    hundredths = abs(share) * 100
    if hundredths < _FINE_BELOW:
        number = significant(hundredths, digits=2)
    else:
        number = f"{hundredths:.1f}" if hundredths < _WHOLE_FROM else f"{hundredths:,.0f}"
    sign = "" if number == "0" else "+" if share > 0 else MINUS
    return f"{sign}{number}"


def plain(value: float, decimals: int = 2) -> str:
    """Return a number as reports print it: so many decimals, thousands apart, no prefix; small ones by their digits."""
    is_small = 0 < abs(value) < 10.0 ** (1 - decimals)
    return significant(value) if is_small else _number_with_minus(f"{value:,.{decimals}f}")


def setting(value: float, unit: str = "") -> str:
    """Return what a parameter was set to, exactly: 16 KiB, 1.5 s, and 12,345 B where a prefix would round it."""
    factor, unit_in_use = _scale(value, unit)
    scaled = value / factor
    # From a million on, `g` would write an exponent.
    if abs(scaled) >= 1e6 or float(f"{scaled:g}") != scaled:
        return _number_with_minus(f"{value:,} {unit}".rstrip())
    return _number_with_minus(f"{scaled:,g} {unit_in_use}" if unit else f"{scaled:g}")


def duration(seconds: float | None) -> str:
    """Say how long something took: 340 ms, 12.6 s, 3 min 20 s, 2 h 5 min, 21 d 17 h."""
    if seconds is None:
        return MISSING
    if seconds < 59.95:
        return str(quantity(seconds, "s"))
    # By what they round to: 59 min 59.7 s is an hour.
    if (whole := round(seconds)) < 3600:
        return _two(whole, 60, "min", "s")
    if (minutes := round(seconds / 60)) < _HOURS_UNTIL * 60:
        return _two(minutes, 60, "h", "min")
    return _two(round(seconds / 3600), 24, "d", "h")


def _scale(value: float, unit: str) -> tuple[float, str]:
    if unit == "B":
        return next(((factor, f"{prefix}B") for factor, prefix in _BINARY if abs(value) >= factor), (1, "B"))
    if unit in _WITHOUT_PREFIX:
        return 1, unit
    # 999.6 shows as 1000 in three digits: it belongs to the next prefix already.
    thousands = 0 if 1 <= value < 999 or value == 0 else _exponent(f"{value:.2e}") // 3
    return _scale_and_unit(thousands, unit, get_language() if unit.startswith(_WORDS) else None)


@cache
def _scale_and_unit(thousands: int, unit: str, language: str | None) -> tuple[float, str]:
    """Return what to divide by, and the unit with its prefix; a unit that is a word is read in the language."""
    factor, prefix = _PREFIXES[min(max(thousands, -3), 4)]
    # Seconds never go up to kiloseconds; whatever is counted never goes below one.
    if (unit == "s" and factor > 1) or (unit != "s" and factor < 1):
        factor, prefix = 1.0, ""
    return factor, _prefixed_unit(prefix, unit)


def _exponent(scientific: str) -> int:
    """Return the exponent of a number that is written as 1.23e+04."""
    return int(scientific[scientific.index("e") + 1 :])


def _is_frame_size(value: float) -> bool:
    """Sizes of frames and segments are known by all their digits: 1,448 B, not 1.41 KiB."""
    return value == int(value) and 1000 < value < 10_000 and value % 1024 != 0


def _prefixed_unit(prefix: str, unit: str) -> str:
    if not unit.startswith(_WORDS):
        return f"{prefix}{unit}"
    return f"{prefix} {gettext(unit)}".lstrip()


def _full(value: float, unit: str = "") -> str:
    """Return every digit that there is."""
    number = f"{value:,}".removesuffix(".0")
    return _number_with_minus(f"{number} {unit}" if unit else number)


def _number_with_minus(number: str) -> str:
    """Write a negative number with a minus, which is as wide as a plus; a hyphen may end a line."""
    return f"{MINUS}{number[1:]}" if number.startswith("-") else number


def _two(whole: int, base: int, large: str, small: str) -> str:
    high, low = divmod(whole, base)
    return f"{high} {large} {low} {small}" if low else f"{high} {large}"


def typed_number(text: str) -> int | float | None:
    """Return the number that people type as 64, 1.5k (k is 1,000) or 64Ki (Ki is 1,024); None for what is none."""
    match = _TYPED.fullmatch(text)
    if match is None:
        return None
    digits, multiplier = match[1], MULTIPLIERS[(match[2] or "").replace("K", "k").replace("ki", "Ki")]
    if "." not in digits:
        return int(digits) * multiplier
    value = float(digits) * multiplier
    return int(value) if value.is_integer() else value
