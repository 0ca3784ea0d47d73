"""A document as Markdown."""

from collections.abc import Iterator

from benchweb.documents.document import Document, DocumentTable
from benchweb.toolprints.markdown import escaped, row_of


def document_markdown(document: Document, address: str) -> Iterator[str]:
    """Return the whole document; its charts are named with the address where they are drawn."""
    yield f"# {escaped(document.title)}\n"
    if lines := [escaped(line) for line in document.lines if line]:
        yield "\n" + "\n\n".join(lines) + "\n"
    for section in document.sections:
        if section.title:
            yield f"\n## {escaped(section.title)}\n"
        if section.text:
            # Its author writes Markdown, which may hold any HTML: none is taken over.
            yield f"\n{section.text.strip().replace('<', escaped('<'))}\n"
        for table in section.tables:
            yield from _table(table)
        if section.charts:
            names = [escaped(" · ".join(filter(None, [chart.title, chart.subtitle]))) for chart in section.charts]
            yield "\n" + "".join(f"- [{name}]({address})\n" for name in names)


def _table(table: DocumentTable) -> Iterator[str]:
    yield f"\n### {escaped(table.title)}\n\n" if table.title else "\n"
    # A head of nothing would be no table.
    yield row_of(escaped(column) or " " for column in table.columns)
    yield row_of("---:" if index in table.numeric else "---" for index in range(len(table.columns)))
    for row in table.rows:
        yield row_of(escaped("" if cell is None else str(cell)) for cell in row)
    for note in table.notes:
        yield f"\n{escaped(note)}\n"
