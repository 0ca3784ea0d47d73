"""The line that stands above each test in a run's own text: settings that the tool's table has no column for.

Written by `benchweb.toolprints.text`, as a comment, so that netperf's other readers pass it over.
"""

import json
import re
from collections.abc import Iterable, Sequence

from benchweb.toolformats.readings import Reading

_MARK = "# benchweb settings: "
# The table has what the kernel granted.
_IN_THE_TABLE = "_socket_buffer_bytes"
_TOOL = re.compile(r"[a-z0-9_.-]{1,20}")
# Notes may stand between it and its test.
_MOST_ABOVE = 3


def take_settings(readings: Iterable[Reading], lines: Sequence[str]) -> None:
    """Give each reading the settings written above it: they outrank its tool's defaults."""
    for reading in readings:
        for line in _comments_above(lines, reading.lines.first - 1):
            if line.startswith(_MARK):
                _take(reading, line.removeprefix(_MARK))
                break


def _comments_above(lines: Sequence[str], index: int) -> Iterable[str]:
    for line in reversed(lines[max(0, index - _MOST_ABOVE) : index]):
        if not line.startswith("#"):
            return
        yield line


def _take(reading: Reading, text: str) -> None:
    try:
        # Of what is no number nothing is known.
        settings = json.loads(text, parse_constant=lambda _name: None)
    except (ValueError, RecursionError):
        return
    if not isinstance(settings, dict):
        return
    tool = settings.pop("tool", None)
    if isinstance(tool, str) and _TOOL.fullmatch(tool):
        reading.tool = tool
    told = {
        name: value
        for name, value in settings.items()
        if isinstance(value, bool | int | float | str) and not name.endswith(_IN_THE_TABLE)
    }
    reading.parameters |= told
    reading.untold = tuple(name for name in reading.untold if name not in told)
