"""The charts and tables of a document, each by a key that stays the same whenever the document is made."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchweb.documents.charts import ChartSpec
from benchweb.documents.document import Document, DocumentSection, DocumentTable
from benchweb.documents.references import joined_label

_CHART, _TABLE = "chart:", "table:"


@dataclass(frozen=True)
class DocumentPart:
    """A chart or a table of a document, by its key."""

    key: str
    title: str
    chart: ChartSpec | None = None
    table: DocumentTable | None = None


def parts_of(document: Document) -> Iterator[DocumentPart]:
    """Yield what a document is made of, in its order; a table's title tells its section's, too."""
    for section in document.sections:
        numbers: Counter[str] = Counter()
        for table in section.tables:
            title = joined_label([section.title, table.title])
            numbers[section.key] += 1
            key = f"{_TABLE}{section.key}:{numbers[section.key]}"
            yield DocumentPart(key, title, table=replace(table, title=title))
        for chart in section.charts:
            yield DocumentPart(f"{_CHART}{chart.id}", chart.title, chart=chart)


def part_section(document: Document, part: str, *, key: str) -> DocumentSection:
    """Return a document, or one part of it, as a section with this key, which its charts' ids begin with.

    A part that the document no longer has leaves an empty section.
    """
    parts = [each for each in parts_of(document) if part in ("", each.key)]
    texts = [line for line in document.lines if line]
    texts += [section.text for section in document.sections if section.text and not part]
    return DocumentSection(
        key,
        document.title,
        text="\n".join(texts) if parts or not part else "",
        tables=[each.table for each in parts if each.table],
        charts=[replace(each.chart, id=f"{key}-{each.chart.id}") for each in parts if each.chart],
    )
