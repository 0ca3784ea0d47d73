"""What loggers and people put before each line of an output: a time, a container's name, a number, a bullet."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice, pairwise

from benchweb.toolformats.json_values import mapping, text
from benchweb.toolformats.numbers import moment_of_epoch, moment_of_iso

# A program's own lines stand without their prefix among the first so many; fewer than these are nobody's habit.
_LOOKED_AT, _FEWEST, _SHARE = 400, 3, 0.8
_MOST_SKIPPED = 10
# A container's name, then a time, then a number.
_MOST_LAYERS = 3
_MILLISECOND_DIGITS = 13
# A report has some tens of outputs.
_FENCE, _MOST_BLOCKS = ("```", "~~~"), 500
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ISO = rf"(?P<iso>\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)"
# The host is the same in nearly each line: two words of a tool's own with a colon are no program.
_PROGRAM = r" (?P<same>\S+) [\w./@-]+(?:\[\d+\])?:"
_LEVEL = r"(?:(?: - [\w.]+ -)? (?:DEBUG|INFO|NOTICE|WARNING|ERROR)(?: -|:)?)"
# Of an empty line a logger may leave out the last blank.
_GAP = r"(?: |$)"
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        # journald's short-iso; Kubernetes, `docker logs -t`, `ts`, GitLab's jobs, Python's logging.
        rf"^{_ISO}{_PROGRAM}{_GAP}",
        rf"^\s{{0,8}}{_ISO}(?: (?:stdout|stderr) [FP]| \d\d[OE])?{_LEVEL}?{_GAP}",
        # Jenkins.
        rf"^\[(?:{_ISO}|{_CLOCK})\]{_GAP}",
        # syslog of RFC 5424, of RFC 3164 and as journald prints it, which `ts` does without a program.
        rf"^<\d+>1 {_ISO} \S+ \S+ \S+ \S+ -{_GAP}",
        rf"^(?:<\d+>)?(?:{_MONTHS}) [ \d]\d {_CLOCK}{_PROGRAM}{_GAP}",
        rf"^(?:{_MONTHS}) [ \d]\d {_CLOCK}{_GAP}",
        rf"^[A-Z][a-z][a-z] \d{{4}}-\d\d-\d\d {_CLOCK} [A-Z]{{1,5}}{_PROGRAM}{_GAP}",
        # `ts %s`, in brackets too, which ping -D has by itself.
        rf"^(?P<epoch>\d{{10}}(?:\.\d{{1,9}}|\d{{3}})?)[:,]?{_GAP}",
        rf"^\[(?P<epoch>\d{{10}}\.\d{{1,9}})\](?! \d+ bytes from| no answer){_GAP}",
        # Compose.
        r"^[\w.-]+[-_]\d+\s+\| ?",
        # `cat -n`, `grep -n`, `nl`, lists; mtr's hops are numbered by itself, and sar's rows begin with their time.
        r"^\s{0,8}\(?(?P<number>\d{1,6})(?:\t(?!Method:)|(?:\.(?!\d)|:(?!\d\d:\d\d(?!:))|\))(?!\|--) ?|-(?=\S))",
        rf"^\s{{0,8}}[-*•+]{_GAP}",
        # What is the same before each line: a container, a host, a file that `grep` looked through.
        r"^(?P<same>\[pod/[\w./-]{1,120}\] |\[[\w.-]{1,60}\] (?:out|err): |[\w.-]{1,60} +\| "
        r"|(?!(?:sockperf|Average|Jobs|nuttcp-[tr]):)[A-Za-z/.][\w./-]{1,60}: ?)",
    )
)
# A logger's document for each line: Docker's file, journald, what collectors of logs send on.
_MESSAGES = ("log", "MESSAGE", "message", "msg")
_TIMES = ("time", "@timestamp", "timestamp")
_LONGEST_MESSAGE = 16_384


def without_prefixes(lines: list[str]) -> tuple[list[str], Sequence[datetime | None]]:
    """Return the lines without what stands before nearly each of them, and when each was printed where told.

    Of a text that has none throughout, such as a report, each fenced block is looked through by itself.
    """
    bare, moments = _bare(lines)
    if bare is not lines:
        return bare, moments if any(moments) else ()
    bare, moments = list(lines), [None] * len(lines)
    for begin, end in islice(_fenced(lines), _MOST_BLOCKS):
        block, told = _bare(lines[begin:end])
        bare[begin:end] = block
        moments[begin:end] = told or [None] * (end - begin)
    return bare, moments if any(moments) else ()


def _fenced(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Return where the lines between two fences of Markdown begin and end."""
    begin: int | None = None
    for index, line in enumerate(lines):
        if line.lstrip().startswith(_FENCE):
            if begin is not None:
                yield begin, index
            begin = index + 1 if begin is None else None


def _bare(lines: list[str]) -> tuple[list[str], Sequence[datetime | None]]:
    """Return lines without their prefixes, and their times; the same list where they have none."""
    lines, moments = _messages(lines)
    left = list(_PREFIXES)
    for _layer in range(_MOST_LAYERS):
        sample = [line for line in lines[:_LOOKED_AT] if line.strip()]
        prefix = next((pattern for pattern in left if _is_everywhere(pattern, sample)), None)
        if prefix is None:
            break
        left.remove(prefix)
        matches = [prefix.match(line) for line in lines]
        lines = [line[found.end() :] if found else line for line, found in zip(lines, matches, strict=True)]
        if not any(moments):
            moments = [_moment(found.groupdict()) if found else None for found in matches]
    return lines, moments


def _messages(lines: list[str]) -> tuple[list[str], Sequence[datetime | None]]:
    """Return the messages of a logger's documents, one a line, with their times; other lines as they are."""
    sample = [line for line in lines[:_LOOKED_AT] if line.strip()]
    if sum(_logged(line) is not None for line in sample) < max(_FEWEST, _SHARE * len(sample)):
        return lines, ()
    logged = [_logged(line) or (line, None) for line in lines]
    return [message for message, _ in logged], [moment for _, moment in logged]


def _logged(line: str) -> tuple[str, datetime | None] | None:
    """Return the message of a logger's document and when it was logged; None for any other line."""
    if not line.startswith("{") or len(line) > _LONGEST_MESSAGE:
        return None
    try:
        document = mapping(json.loads(line))
    except (ValueError, RecursionError):
        return None
    message = next((document[name] for name in _MESSAGES if isinstance(document.get(name), str)), None)
    if message is None or "\n" in text(message).rstrip("\n"):
        return None
    at = next((text(document[name]) for name in _TIMES if name in document), "")
    return text(message).rstrip("\n"), _moment({"iso": at})


def _is_everywhere(pattern: re.Pattern[str], sample: Sequence[str]) -> bool:
    found = [match for line in sample if (match := pattern.match(line))]
    least = max(_FEWEST, _SHARE * len(sample))
    if len(found) < least:
        return False
    if "same" in pattern.groupindex:
        return Counter(match["same"].rstrip() for match in found).most_common(1)[0][1] >= least
    if "number" not in pattern.groupindex:
        return True
    numbers = [int(match["number"]) for match in found]
    is_counting = all(before < after for before, after in pairwise(numbers))
    # Sizes of sockets grow too, and faster.
    return is_counting and numbers[-1] - numbers[0] <= _MOST_SKIPPED * len(numbers)


def _moment(told: dict[str, str | None]) -> datetime | None:
    if epoch := told.get("epoch"):
        is_milliseconds = len(epoch) == _MILLISECOND_DIGITS and epoch.isdigit()
        return moment_of_epoch(float(epoch) / (1000 if is_milliseconds else 1))
    iso = told.get("iso")
    return moment_of_iso(re.sub(r"[.,]\d+", "", iso)) if iso else None
