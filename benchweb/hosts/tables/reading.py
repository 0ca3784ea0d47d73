"""Read a table of hosts as people have it: CSV with commas, semicolons or tabs, pasted cells, or words with blanks."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

MAXIMUM_LINES = 500
MAXIMUM_CHARACTERS = 200_000
# Each column with what else people call it; without a heading line they come in this order.
COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("host", "hostname", "host name", "host's name", "machine", "名称", "主机"),
    "address": ("control address", "engine", "engine address", "engine's address", "ip", "ip address", "地址"),
    "labels": ("label", "tags"),
    "network mode": ("mode",),
    "data address": ("data", "test traffic", "address for test traffic"),
    "uplink": ("shared uplink",),
    "description": ("comment", "notes"),
    "device": ("bind device", "network device", "interface"),
    "endpoint": ("endpoint name", "endpoint's name"),
    "token": ("engine's token", "engine token"),
    "fingerprint": ("certificate", "certificate's fingerprint"),
}
REQUIRED = ("name", "address")
_CALLED = {alias: column for column, aliases in COLUMNS.items() for alias in (column, *aliases)}
_RULE = re.compile(r"[\s|:+-]+")


@dataclass(frozen=True)
class TableLine:
    """A line by its number in the text, and its cells by their columns; empty cells are left out."""

    number: int
    cells: dict[str, str]


@dataclass(frozen=True)
class LineFault:
    """What is wrong with a line, in which column; 0 is the whole text."""

    number: int
    column: str
    message: str


@dataclass(frozen=True)
class HostTable:
    """The lines that could be read, and what is wrong with the others."""

    lines: list[TableLine]
    faults: list[LineFault]


def host_table(text: str) -> HostTable:
    """Read the lines of a text; empty ones and those that begin with # are left out."""
    if len(text) > MAXIMUM_CHARACTERS:
        return _refused(_("The text has more than {most} characters: split it.").format(most=f"{MAXIMUM_CHARACTERS:,}"))
    rows = list(_rows(text))
    if not rows:
        return HostTable([], [])
    columns, unknown = _heading(rows[0][1])
    if unknown:
        known = ", ".join(COLUMNS)
        message = _("{column} is no column: {known} are.").format(column=f"{unknown[:40]!r}", known=known)
        return HostTable([], [LineFault(rows[0][0], "", message)])
    if columns:
        rows = rows[1:]
    if len(rows) > MAXIMUM_LINES:
        return _refused(
            _("{count} lines are too many; at most {most} are possible: split the table.").format(
                count=f"{len(rows):,}", most=MAXIMUM_LINES
            )
        )
    return _read(rows, columns or list(COLUMNS))


def _read(rows: Sequence[tuple[int, list[str]]], columns: Sequence[str]) -> HostTable:
    lines, faults = [], []
    for number, cells in rows:
        if len(cells) > len(columns):
            message = _("The line has {count} cells, the table {columns} columns.").format(
                count=len(cells), columns=len(columns)
            )
            faults.append(LineFault(number, "", message))
            continue
        filled = {column: cell for column, cell in zip(columns, cells, strict=False) if cell}
        missing = [column for column in REQUIRED if column not in filled]
        faults += [LineFault(number, column, _("This cell is empty.")) for column in missing]
        if not missing:
            lines.append(TableLine(number, filled))
    return HostTable(lines, faults)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    delimiter = _delimiter([line for line in lines if _has_cells(line)])
    for number, line in enumerate(lines, 1):
        if _has_cells(line):
            yield number, [cell.strip() for cell in _cells(line.strip("\ufeff"), delimiter)]


def _has_cells(line: str) -> bool:
    # A Markdown table has a rule of dashes below its heading.
    return bool(line.strip()) and not line.lstrip().startswith("#") and _RULE.fullmatch(line) is None


def _delimiter(lines: Sequence[str]) -> str:
    """Return what parts the cells: of the marks that each line has the most frequent; blanks where there is none."""
    counts = {mark: min((line.count(mark) for line in lines), default=0) for mark in "\t|;,"}
    # A tab is in no cell; a semicolon or a comma may be between labels.
    best = "\t" if counts["\t"] else max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else ""


def _cells(line: str, delimiter: str) -> list[str]:
    if not delimiter:
        return line.split()
    if delimiter == "|":
        return line.strip().removeprefix("|").removesuffix("|").split("|")
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))


def _heading(cells: Sequence[str]) -> tuple[list[str], str]:
    """Return the columns that a heading line names, or none where it is no heading; and the first that is unknown."""
    words = [" ".join(cell.casefold().replace("_", " ").split()) for cell in cells]
    if not set(words) & _CALLED.keys():
        return [], ""
    unknown = next((cell for cell, word in zip(cells, words, strict=True) if word not in _CALLED), "")
    return [_CALLED.get(word, "") for word in words], unknown


def _refused(message: str) -> HostTable:
    return HostTable([], [LineFault(0, "", message)])
