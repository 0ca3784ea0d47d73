"""A parameter whose value is a test of its own, such as ping's load: `{"kind", "params"}`, or None for none."""

import json
import re
from collections.abc import Mapping
from math import isinf
from typing import Any, NoReturn

from django.utils.translation import gettext as _

NONE = "none"
# A test is two deep; what is far deeper was made to exhaust whoever walks it.
_MOST_BRACKETS = 64
# As JSON has it; after an odd number of backslashes more it is a backslash and harmless letters.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def is_none(value: Any) -> bool:
    """Say whether a value means no test, however it is written."""
    return value is None or value == NONE


def nested_text(value: Any) -> str:
    """Write a test as one line that the engine's command line and the API take: compact JSON, keys in order."""
    return NONE if is_none(value) else json.dumps(value, sort_keys=True, separators=(",", ":"))


def nested_words(value: Any) -> str:
    """Write a test as people read it: `tcp_rr flows=100 request_size_bytes=32`."""
    if is_none(value) or not isinstance(value, Mapping):
        return NONE if is_none(value) else str(value)
    settings = [f"{name}={_word(setting)}" for name, setting in value.get("params", {}).items()]
    return " ".join([str(value.get("kind", "")), *settings])


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def storable_json(text: str) -> Any:
    """Read JSON that people sent; ValueError for whatever a database can't store or a recursion can't walk."""
    if text.count("{") + text.count("[") > _MOST_BRACKETS:
        raise ValueError(_("nested too deep"))
    value = json.loads(text, parse_constant=_refused, parse_float=_finite)
    # A half surrogate can't be encoded, which is a ValueError too.
    if _NUL.search(json.dumps(value, ensure_ascii=False).encode()):
        raise ValueError(_("a NUL character"))
    return value


def _refused(constant: str) -> NoReturn:
    raise ValueError(_("{constant} is no JSON").format(constant=constant))


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise ValueError(_("{digits} is too large").format(digits=digits))
    return value
