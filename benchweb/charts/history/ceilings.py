"""What was the most that a path could carry, and when: a ceiling changes with the MTU, a link's rate with the link."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from benchweb.documents.charts import ReferenceLine
from benchweb.documents.moments import rfc3339

# From when until when a value held; None is the end of what is looked at.
Held = tuple[datetime | None, datetime | None]
ALWAYS: Held = (None, None)
# The times from which on there was a value, oldest first.
Changes = Sequence[tuple[datetime, float]]


class Ceilings:
    """The lines across a chart: what lines of the chart have alike is one of them."""

    def __init__(self) -> None:
        # By what it says, its value, how often it held before and whether that is always: for which lines, and when.
        self._spans: dict[tuple[str, float, int, bool], tuple[set[int], list[Held]]] = {}

    def add(self, label: str, index: int, changes: Changes) -> None:
        """Add what held for the line at a place."""
        for value, time, held in held_values(changes):
            indexes, helds = self._spans.setdefault((label, value, time, held == ALWAYS), (set(), []))
            indexes.add(index)
            helds.append(held)

    def lines(self, total: int) -> list[ReferenceLine]:
        """Return what is drawn across a chart of so many lines."""
        return [
            ReferenceLine(_of_lines(label, len(indexes), total), value, *shared_span(helds))
            for (label, value, *_when), (indexes, helds) in self._spans.items()
        ]


def held_values(changes: Changes) -> list[tuple[float, int, Held]]:
    """Say of each value how often it held before, and when it does: until there is another.

    The first one held before as well, as far as anybody knows.
    """
    times = Counter[float]()
    spans = []
    for index, (at, value) in enumerate(changes):
        end = changes[index + 1][0] if index + 1 < len(changes) else None
        spans.append((value, times[value], (at if index else None, end)))
        times[value] += 1
    return spans


def shared_span(helds: Collection[Held]) -> tuple[str, str]:
    """Return the whole time in which a value held for any of several lines, as a chart has it: empty for its ends."""
    begins, ends = [begin for begin, _ in helds], [end for _, end in helds]
    begin = min((begin for begin in begins if begin), default=None) if None not in begins else None
    end = max((end for end in ends if end), default=None) if None not in ends else None
    return rfc3339(begin) if begin else "", rfc3339(end) if end else ""


def _of_lines(label: str, count: int, total: int) -> str:
    """Name a reference line; one that is not for all lines of a chart says so."""
    if count == total:
        return label
    return _("{label} ({count} of {total} lines)").format(label=label, count=count, total=total)
