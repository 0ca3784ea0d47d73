"""Show what a file holds before it is imported."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchweb.catalog import catalog
from benchweb.catalog.tool_reasons import tool_reason
from benchweb.catalog.translation import reason_text
from benchweb.imports.services import ImportPreview, nothing_to_import, previews
from benchweb.imports.trials import error_of
from benchweb.toolformats.readings import Figure, Reading, ToolFormatError, Unread

# More rows than this are counted, not shown.
MOST_DISPLAYED = 100
_MOST_FIGURES = 4


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
        readings = self.read.document.readings[:MOST_DISPLAYED]
        return [
            FoundRow(
                reading, reasons.get(id(reading), ""), "" if id(reading) in reasons else reason_text(error_of(reading))
            )
            for reading in readings
        ]

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
    """One result; `reason` says why it isn't imported, `error` why it is imported as a failed trial."""

    reading: Reading
    reason: str
    error: str = ""

    @property
    def remarks(self) -> list[str]:
        """Return what is to be said of it, in the reader's language."""
        return [_translated_sentence(remark) for remark in self.reading.remarks]

    @property
    def settings(self) -> str:
        """Return the parameters that benchweb knows, in words."""
        kind = catalog().kinds.get(self.reading.kind or "")
        names = kind.parameters if kind else {}
        known = ((names[name].label, value) for name, value in self.reading.parameters.items() if name in names)
        return ", ".join(f"{label.lower()} {value}" for label, value in known)

    @property
    def figures(self) -> str:
        """Return the first figures of the whole test as the tool printed them."""
        printed = [figure for figure in self.reading.figures if not figure.part and not figure.is_derived]
        return " · ".join(_words(figure) for figure in (printed or self.reading.figures)[:_MOST_FIGURES])


def _words(figure: Figure) -> str:
    metric = catalog().metrics.get(figure.metric)
    return f"{metric.label if metric else figure.metric.replace('_', ' ')}: {figure.text or f'{figure.value:g}'}"


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
