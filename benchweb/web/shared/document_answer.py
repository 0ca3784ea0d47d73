"""A document as a file: CSV, JSON or Markdown."""

from collections.abc import Iterator
from typing import Literal

from django.http import HttpRequest, StreamingHttpResponse

from benchweb.common.downloads import download
from benchweb.documents.csv_file import document_csv
from benchweb.documents.document import Document
from benchweb.documents.json_file import document_json
from benchweb.documents.markdown import document_markdown

FileEnding = Literal["csv", "json", "md"]
_MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "md": "text/markdown"}


def document_answer(
    request: HttpRequest, document: Document, ending: FileEnding, *, address: str, name: str
) -> StreamingHttpResponse:
    """Answer with a document's file; `address` is where its charts are drawn."""
    parts = _parts(document, ending, address)
    return download(request, parts, media_type=_MEDIA_TYPES[ending], file_name=f"{name}.{ending}")


def _parts(document: Document, ending: FileEnding, address: str) -> Iterator[str | bytes]:
    match ending:
        case "csv":
            yield from document_csv(document)
        case "json":
            yield document_json(document)
        case "md":
            yield from document_markdown(document, address)
