"""What loggers and people put before each line of an output: a time, a container's name, a number, a bullet."""

import itertools
import re
from collections.abc import Sequence
from datetime import datetime

from benchweb.toolformats.numbers import moment_of_epoch, moment_of_iso

# A program's own lines stand without their prefix among the first so many; fewer than these are nobody's habit.
_LOOKED_AT, _FEWEST, _SHARE = 400, 3, 0.8
_MOST_SKIPPED = 10
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        # Kubernetes, `docker logs -t`, `ts`, journald's short-iso.
        r"^(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)(?: (?:stdout|stderr) [FP])?"
        r"(?: \S+ [\w./-]+(?:\[\d+\])?:)? ",
        # syslog.
        rf"^(?:<\d+>)?(?:{_MONTHS}) [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?: ",
        # `ts %s`.
        r"^(?P<epoch>\d{10}(?:\.\d{1,9})?)[:,]? ",
        # Compose.
        r"^[\w.-]+[-_]\d+\s+\| ?",
        # `cat -n`, `grep -n`, `nl`, lists; mtr's hops are numbered by itself.
        r"^\s{0,8}(?P<number>\d{1,6})(?:\t(?!Method:)|[:.)](?!\|--) ?|-(?=\S))",
        r"^\s{0,8}[-*•] ",
    )
)


def without_prefixes(lines: list[str]) -> tuple[list[str], Sequence[datetime | None]]:
    """Return the lines without what stands before nearly each of them, and when each was printed where told."""
    sample = [line for line in lines[:_LOOKED_AT] if line.strip()]
    prefix = next((pattern for pattern in _PREFIXES if _is_everywhere(pattern, sample)), None)
    if prefix is None:
        return lines, ()
    bare: list[str] = []
    moments: list[datetime | None] = []
    for line in lines:
        found = prefix.match(line)
        bare.append(line[found.end() :] if found else line)
        moments.append(_moment(found.groupdict()) if found else None)
    return bare, moments


def _is_everywhere(pattern: re.Pattern[str], sample: Sequence[str]) -> bool:
    found = [match for line in sample if (match := pattern.match(line))]
    if len(found) < max(_FEWEST, _SHARE * len(sample)):
        return False
    if "number" not in pattern.groupindex:
        return True
    numbers = [int(match["number"]) for match in found]
    is_counting = all(before < after for before, after in itertools.pairwise(numbers))
    # Sizes of sockets grow too, and faster.
    return is_counting and numbers[-1] - numbers[0] <= _MOST_SKIPPED * len(numbers)


def _moment(told: dict[str, str | None]) -> datetime | None:
    if epoch := told.get("epoch"):
        return moment_of_epoch(float(epoch))
    iso = told.get("iso")
    return moment_of_iso(re.sub(r"[.,]\d+", "", iso)) if iso else None
