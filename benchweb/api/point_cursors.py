"""Cursors into lists by time, such as a series' points: the time, the id and, if need be, a number of the last row."""

import base64
import binascii
from datetime import datetime

from benchweb.api.parser import MAXIMUM_INTEGER
from benchweb.api.problems import invalid


def cursor_of(at: datetime, *numbers: int) -> str:
    """Write the cursor of a row."""
    text = " ".join([at.isoformat(), *map(str, numbers)])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def point_of(cursor: str) -> tuple[datetime, int]:
    """Read the cursor of a point, its time and trial; refused when it is not one of ours."""
    at, trial, _number = _read(f"{_text(cursor)} 0")
    return at, trial


def numbered_point_of(cursor: str) -> tuple[datetime, int, int]:
    """Read the cursor of a row whose time and id have several, with its number among them."""
    return _read(_text(cursor))


def _text(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        raise _invalid() from None


def _read(text: str) -> tuple[datetime, int, int]:
    try:
        at_text, id_text, number_text = text.split(" ")
        at, row, number = datetime.fromisoformat(at_text), int(id_text), int(number_text)
    except ValueError:
        raise _invalid() from None
    if at.tzinfo is None or not 0 < row <= MAXIMUM_INTEGER or not 0 <= number <= MAXIMUM_INTEGER:
        raise _invalid()
    return at, row, number


def _invalid() -> Exception:
    return invalid("cursor", "The cursor is not one that this list gave: start again without it.")
