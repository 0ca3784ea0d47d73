"""Cursors into a series' points, which have no ids of their own: the time and the trial of the last one shown."""

import base64
import binascii
from datetime import datetime

from benchweb.api.parser import MAXIMUM_INTEGER
from benchweb.api.problems import invalid


def cursor_of(at: datetime, trial: int) -> str:
    """Write the cursor of a point."""
    return base64.urlsafe_b64encode(f"{at.isoformat()} {trial}".encode()).decode().rstrip("=")


def point_of(cursor: str) -> tuple[datetime, int]:
    """Read a cursor; refused when it is not one of ours."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        at_text, trial_text = text.split(" ")
        at, trial = datetime.fromisoformat(at_text), int(trial_text)
    except (binascii.Error, ValueError):
        raise _invalid() from None
    if at.tzinfo is None or not 0 < trial <= MAXIMUM_INTEGER:
        raise _invalid()
    return at, trial


def _invalid() -> Exception:
    return invalid("cursor", "The cursor is not one that this list gave in its Link header: start again without it.")
