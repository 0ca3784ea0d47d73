"""Tables of `benchweb.toolprints.markdown`: a row is a trial; parameters before the repetition, metrics behind it."""

import json
import re
from collections.abc import Sequence

from benchweb.toolformats.numbers import figure
from benchweb.toolformats.readings import Lines, Reading

_HEAD = re.compile(r"^\|\s*kind\s*\|.*\|\s*repetition\s*\|")
_RULE = re.compile(r"^\|\s*:?-{2,}")
_CELL_END = re.compile(r"(?<!\\)\|")
_METRIC = re.compile(r"^(?P<name>[a-z][a-z0-9_]*)(?: \((?P<unit>[^()]+)\))?$")


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return a reading for each row of the table whose head stands at `start`."""
    if not _HEAD.match(lines[start].strip()):
        return None
    heads = _cells(lines[start])
    repetition = heads.index("repetition")
    readings, index = [], start + 1
    while index < len(lines) and lines[index].lstrip().startswith("|"):
        cells = _cells(lines[index])
        if not _RULE.match(lines[index].strip()) and len(cells) == len(heads):
            readings.append(_reading(heads, cells, repetition, index + 1))
        index += 1
    return readings, index


def _reading(heads: Sequence[str], cells: Sequence[str], repetition: int, number: int) -> Reading:
    reading = Reading(tool="benchweb", test=cells[0], kind=cells[0], lines=Lines(number, number))
    for name, text in zip(heads[1:repetition], cells[1:repetition], strict=True):
        if name == "tool" and text:
            reading.tool = text
        elif text:
            reading.parameters[name] = _value(text)
    for head, text in zip(heads[repetition + 1 :], cells[repetition + 1 :], strict=True):
        if text and (metric := _METRIC.match(head)):
            reading.add(figure(metric["name"], text, metric["unit"] or ""))
    return reading


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|").replace("\\<", "<") for cell in _CELL_END.split(line.strip())[1:-1]]


def _value(text: str) -> int | float | str | bool:
    try:
        value: int | float | str | bool = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
