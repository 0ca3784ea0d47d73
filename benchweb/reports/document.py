"""A report's content, in the reader's language, with nothing left to look up."""

from dataclasses import dataclass, field

from benchweb.documents.charts import ChartSpec


@dataclass(frozen=True)
class Table:
    """A table of texts; `numeric` are the columns, from 0, that are set right."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    numeric: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """A part of a report: the author's words, then what the runs gave."""

    key: str
    title: str
    text: str = ""
    tables: list[Table] = field(default_factory=list)
    charts: list[ChartSpec] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.tables or self.charts)


@dataclass(frozen=True)
class Document:
    """The whole: what it is about in `lines`, then its sections in order."""

    title: str
    lines: list[str]
    sections: list[Section]
    is_synthetic: bool = False
