"""A document: sections of texts, tables and charts, with references where it names something."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from benchweb.common.formatting import quantity, repetitions
from benchweb.documents.charts import ChartSpec


class RowId(int):
    """A number by which the dashboard knows something; left out where names are hidden."""


class PlacedId(RowId):
    """The number of one of several in a row; its place among them where names are hidden."""

    place: int

    def __new__(cls, row_id: int, place: int) -> "PlacedId":
        """Number what is at a place."""
        placed = super().__new__(cls, row_id)
        placed.place = place
        return placed


@dataclass(frozen=True)
class Moment:
    """A time, told in a zone."""

    at: datetime
    zone: str = "UTC"

    def __str__(self) -> str:
        return f"{self.at.astimezone(ZoneInfo(self.zone)):%Y-%m-%d %H:%M} {self.zone}"


@dataclass(frozen=True)
class MeasuredValue:
    """A figure in the catalog's unit, with its repetitions where there are several."""

    value: float
    unit: str
    n: int = 0
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        written = str(quantity(self.value, self.unit))
        if self.low is None or self.high is None:
            return written
        return f"{written} · {repetitions(self.value, (self.low, self.high), self.unit, self.n)}"


# A text may be a Label or a Reason; of what is stored, all texts are plain.
DocumentCell = str | int | float | MeasuredValue | Moment | None


@dataclass(frozen=True)
class DocumentTable:
    """A table; `numeric` are the columns, from 0, that are set right.

    Of a matrix `tones` are the classes that colour its cells, a list for each row, its heading's first.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[DocumentCell]]
    numeric: Sequence[int] = ()
    notes: Sequence[str] = ()
    tones: Sequence[Sequence[str]] = ()

    @property
    def toned_rows(self) -> list[list[tuple[DocumentCell, str]]]:
        """Return the rows of a matrix, each cell with its class."""
        return [list(zip(row, tones, strict=True)) for row, tones in zip(self.rows, self.tones, strict=True)]


@dataclass(frozen=True)
class DocumentSection:
    """A part of a document: its author's words, then tables and charts."""

    key: str
    title: str
    text: str = ""
    tables: Sequence[DocumentTable] = ()
    charts: Sequence[ChartSpec] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.tables or self.charts)


@dataclass(frozen=True)
class Badge:
    """What a document says in one figure: what it is of, and whether it is bad."""

    label: str
    value: str
    is_bad: bool = False


@dataclass(frozen=True)
class Document:
    """The whole: what it is about in `lines`, then its sections; a field added later needs a default."""

    title: str
    lines: Sequence[str]
    sections: Sequence[DocumentSection]
    made_at: datetime
    is_synthetic: bool = False
    badge: Badge | None = None
    # Where the tables are for reading: the figures behind them in full, a row each, under the exports' own names.
    figures: DocumentTable | None = None

    @property
    def charts(self) -> list[ChartSpec]:
        return [chart for section in self.sections for chart in section.charts]

    @property
    def tables(self) -> list[DocumentTable]:
        return [table for section in self.sections for table in section.tables]
