"""Make what other programs sent fit to be stored and shown; imports no room.

PostgreSQL stores no NUL character, no half of a surrogate pair, and no NaN or infinity in JSON. Numbers, texts and
depths that nothing real needs would break pages and sums later.
"""

import re
from typing import Any

# The engine's protocol allows as much.
MAXIMUM_DEPTH = 32
# Of one text within a document; a page shows each in full.
MAXIMUM_TEXT = 10_000
# Of a sentence: a reason, a refusal.
MAXIMUM_SENTENCE = 2_000
# Of a number, whole or not: what a bigint holds. No measured quantity is larger, sums and medians of larger ones
# overflow, and JSON beyond it is read differently by every program.
MAXIMUM_NUMBER = 2**63 - 1
_REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# The one member of a document that is a whole file: a histogram in base64.
_UNCUT = "data"


class TooDeepError(ValueError):
    """A document that is nested deeper than anything real is."""


def storable_text(text: str, most: int = MAXIMUM_SENTENCE) -> str:
    """Return a text without what can't be stored, cut with an ellipsis where it is too long."""
    whole = _UNSTORABLE.sub(_REPLACEMENT, text[: most + 1])
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def storable(value: Any, depth: int = MAXIMUM_DEPTH) -> Any:
    """Return a JSON document fit to be stored: a number beyond its bounds becomes null; raises TooDeepError."""
    if isinstance(value, str):
        return storable_text(value, MAXIMUM_TEXT)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if is_figure(value) else None
    if isinstance(value, dict | list):
        if depth == 0:
            raise TooDeepError(f"it is nested more than {MAXIMUM_DEPTH} deep")
        return _members(value, depth - 1)
    return value


def is_figure(value: Any) -> bool:
    """Tell whether a value is a number that something can have measured."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAXIMUM_NUMBER


def _members(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        return [storable(item, depth) for item in value]
    return {storable_text(key): _member(key, item, depth) for key, item in value.items()}


def _member(key: str, value: Any, depth: int) -> Any:
    if key == _UNCUT and isinstance(value, str):
        return _UNSTORABLE.sub(_REPLACEMENT, value)
    return storable(value, depth)
