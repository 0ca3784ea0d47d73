"""Show what a file holds before it is imported."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchweb.catalog import catalog
from benchweb.catalog.tool_reasons import tool_reason
from benchweb.catalog.translation import reason_text
from benchweb.imports.services import ImportPreview, nothing_to_import, previews
from benchweb.imports.trials import ImportedTrial, error_of
from benchweb.toolformats.apart import LONGEST_RAW
from benchweb.toolformats.readings import Reading, ToolFormatError, Unread

# More rows than this are counted, not shown.
MOST_DISPLAYED = 100
_MOST_QUOTED = 60


@dataclass(frozen=True)
class FileFound:
    """One file or the pasted text: what was read, or why it can't be read."""

    name: str
    read: ImportPreview | None
    error: str = ""

    @property
    def rows(self) -> list["FoundRow"]:
        if self.read is None:
            return []
        reasons = {id(unusable.reading): reason_text(unusable.reason) for unusable in self.read.unusable}
        trials: dict[int, list[ImportedTrial]] = {}
        for trial in self.read.trials:
            # A job of several readings stands where its first one does.
            trials.setdefault(id(trial.readings[0]), []).append(trial)
        return [self._row(reading, trials, reasons) for reading in self.read.document.readings[:MOST_DISPLAYED]]

    def _row(
        self, reading: Reading, trials: Mapping[int, list[ImportedTrial]], reasons: Mapping[int, str]
    ) -> "FoundRow":
        excerpt = self.read.document.raw(reading) if self.read else ""
        left_out = reasons.get(id(reading), "")
        error = "" if left_out else reason_text(error_of(reading))
        return FoundRow(reading, excerpt, trials.get(id(reading), []), left_out, error)

    @property
    def nothing(self) -> str:
        """Say why nothing of it can be imported; empty where something can."""
        if self.read is None or any(trial.metrics for trial in self.read.trials):
            return ""
        return reason_text(nothing_to_import(self.read))

    @property
    def unread(self) -> list[tuple[Unread, str]]:
        """Return the lines that weren't understood, each with why."""
        lines = self.read.document.unread if self.read else ()
        return [(line, _translated_sentence(line.reason)) for line in lines]

    @property
    def more(self) -> int:
        """Return how many results are not listed."""
        return max(0, len(self.read.document.readings) - MOST_DISPLAYED) if self.read else 0


@dataclass(frozen=True)
class FoundRow:
    """One result and the trials that it becomes; `reason` says why it isn't imported, `error` why it fails."""

    reading: Reading
    # Its lines as they stand in the text.
    excerpt: str
    trials: Sequence[ImportedTrial]
    reason: str
    error: str = ""

    @property
    def quote(self) -> str:
        """Return the lines that it was read from, as many as are shown."""
        lines = self.excerpt.split("\n")
        return "\n".join([*lines[:_MOST_QUOTED], *(["…"] if len(lines) > _MOST_QUOTED else [])])

    @property
    def remarks(self) -> list[str]:
        """Return what is to be said of it, in the reader's language."""
        return [_translated_sentence(remark) for remark in self.reading.remarks]

    @property
    def figures(self) -> list["StoredFigure"]:
        """Return every figure that will be stored, of each trial in turn."""
        return [figure for trial in self.trials for figure in self._figures_of(trial)]

    def _figures_of(self, trial: ImportedTrial) -> Iterator["StoredFigure"]:
        units = {definition.name: definition.unit or "" for definition in trial.definitions}
        lines = self.excerpt.split("\n") if len(self.excerpt) < LONGEST_RAW else []
        part = str(trial.params.get("part", ""))
        for key, value in trial.metrics.items():
            metric = catalog().metrics.get(key)
            label = metric.label if metric else key.replace("_", " ")
            unit = units.get(key, metric.unit if metric else "")
            text = _printed(trial, key, value)
            line = _line_of(text, lines, self.reading.lines.first) if text else 0
            yield StoredFigure(f"{part}: {label}" if part else label, value, unit, text, line)


@dataclass(frozen=True)
class StoredFigure:
    """A figure as it will be stored; `text` as it was printed, in `line` where one line alone has it, else 0."""

    label: str
    value: float
    unit: str
    text: str
    line: int


def _printed(trial: ImportedTrial, metric: str, value: float) -> str:
    """Return a stored figure as its tool printed it; empty for what was computed."""
    figures = (figure for reading in trial.readings for figure in reading.figures)
    if text := next((each.text for each in figures if (each.metric, each.value) == (metric, value)), ""):
        return text
    # Buffers are read as parameters.
    given = (told for reading in trial.readings for told in reading.parameters.values())
    return f"{value:.0f}" if metric.endswith("_buffer_bytes") and value in given else ""


def _line_of(text: str, lines: Sequence[str], first: int) -> int:
    """Return which line has a printed figure, or its number without the unit; 0 where none or several have it."""
    for printed in dict.fromkeys([text, text.partition(" ")[0]]):
        pattern = re.compile(rf"(?<![\w.]){re.escape(printed)}(?![\w]|\.\d)")
        found = [number for number, line in enumerate(lines, first) if printed in line and pattern.search(line)]
        if found:
            return found[0] if len(found) == 1 else 0
    return 0


def _translated_sentence(sentence: str) -> str:
    return reason_text(tool_reason(sentence))


def found(cleaned: dict[str, Any], is_wanted: Callable[[], None]) -> list[FileFound]:
    """Read each file, and the pasted text, together; `is_wanted` raises once nobody waits for them."""
    contents = list(_contents(cleaned))
    reads = previews([content for _, content in contents], is_wanted)
    return [_found(name, read) for (name, _), read in zip(contents, reads, strict=True)]


def _contents(cleaned: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    files: Sequence[Any] = cleaned.get("uploads") or ()
    yield from ((file.name or "", file.read()) for file in files)
    if text := cleaned.get("text"):
        yield "", text.encode()


def _found(name: str, read: ImportPreview | ToolFormatError) -> FileFound:
    if isinstance(read, ToolFormatError):
        return FileFound(name, None, _translated_sentence(str(read)))
    return FileFound(name, read)
