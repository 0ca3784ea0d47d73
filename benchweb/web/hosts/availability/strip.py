"""The strip of an endpoint's states over a period."""

from datetime import datetime
from typing import NamedTuple

from benchweb.common.formatting import duration
from benchweb.hosts.probing.availability import STATES, Availability
from benchweb.web.hosts.availability.words import NOT_ADDED


class StripPart(NamedTuple):
    """A state's share of a strip's cell, 0 to 1."""

    state: str
    share: float


class StripCell(NamedTuple):
    """A step of a strip: its first minute in UTC, the states in words, and parts in the order of the states."""

    begin: str
    text: str
    parts: tuple[StripPart, ...]


def strip_cells(availability: Availability, starts: list[datetime], words: dict[str, str]) -> list[StripCell]:
    """Return a cell for each start but the last, which is where the strip ends."""
    # Most steps were spent in one state from end to end: what is said of one is said of all of them.
    texts: dict[tuple[tuple[str, float], ...], tuple[str, tuple[StripPart, ...]]] = {}
    cells = []
    for start, shares in zip(starts, availability.shares(starts), strict=False):
        key = tuple(shares.items())
        if key not in texts:
            texts[key] = _states_text(shares, words) or words[NOT_ADDED], _parts(shares)
        text, parts = texts[key]
        cells.append(StripCell(start.isoformat(" ", "minutes")[:16], text, parts))
    return cells


def _parts(shares: dict[str, float]) -> tuple[StripPart, ...]:
    whole = sum(shares.values())
    return tuple(StripPart(state, round(shares[state] / whole, 4)) for state in STATES if state in shares)


def _states_text(shares: dict[str, float], words: dict[str, str]) -> str:
    return ", ".join([f"{words[state]} {duration(shares[state])}" for state in STATES if state in shares])
