"""JSON inside text: documents found, mended where tools print what is none, and values read without trust."""

import json
import math
import re
from collections.abc import Mapping, Sequence

from benchweb.toolformats.numbers import figure, power_of_ten
from benchweb.toolformats.readings import Figure

# nan, inf and a lost sign of an exponent, outside of strings as far as tools print them.
_NO_NUMBER = re.compile(r"(?<=[:\[,])(\s*)[-+]?(?:nan|inf(?:inity)?)(?=\s*[,\]}])", re.IGNORECASE)
_LOST_SIGN = re.compile(r"(?<=\d)[eE] (?=\d+\s*[,\]}])")
# A string that nothing closes goes to the end, and is looked through once.
_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_DEEPEST = 60


def document_at(text: str, start: int) -> tuple[Mapping[str, object], int] | None:
    """Return the JSON object that begins at `start` and where it ends, or None where none does."""
    found = value_at(text, start)
    return (found[0], found[1]) if found and isinstance(found[0], dict) else None


def value_at(text: str, start: int) -> tuple[object, int] | None:
    """Return the JSON object or list that begins at `start` and where it ends, or None where none does."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        end = _matching_brace(text, start)
        if end < 0:
            return None
        mended = _LOST_SIGN.sub("e+", _NO_NUMBER.sub(r"\1null", text[start:end]))
        try:
            value = _DECODER.decode(mended)
        except (ValueError, RecursionError):
            return None
    return value, end


def _matching_brace(text: str, start: int) -> int:
    """Return the position after the brace that closes the one at `start`, or -1."""
    depth = 0
    for match in _MARK.finditer(text, start):
        mark = match.group(0)
        if mark in "{[":
            depth += 1
            if depth > _DEEPEST:
                return -1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """Return a finite number, also one written as text; None for all else."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int | float):
        try:
            plain = float(value)
        except OverflowError:
            return None
        return plain if math.isfinite(plain) else None
    return None


def json_figure(metric: str, value: object, unit: str, exponent: int = 0, part: str = "") -> Figure | None:
    """Return a number times 10^exponent as a figure; None for what is none, or has wrapped below zero."""
    plain = number(value)
    if plain is None or plain < 0:
        return None
    printed = repr(int(plain)) if plain == int(plain) else repr(plain)
    return figure(metric, printed, unit, times=power_of_ten(exponent), part=part)
