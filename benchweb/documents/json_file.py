"""A document as JSON: for readers' programs, and as it is stored for a share."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from pydantic import TypeAdapter

from benchweb.documents.charts import written_value
from benchweb.documents.document import Document

_DOCUMENT = TypeAdapter(Document)


def document_json(document: Document) -> bytes:
    """Write the whole document; references are the texts that they read as."""
    return orjson.dumps(document, default=written_value, option=orjson.OPT_UTC_Z)


def stored_document(document: Document) -> dict[str, Any]:
    """Return what a share stores, with nothing left to look up and no links into the dashboard."""
    stored: dict[str, Any] = orjson.loads(document_json(document))
    for section in stored["sections"]:
        section["charts"] = [unlinked(chart) for chart in section["charts"]]
    return stored


def document_of(stored: Mapping[str, Any]) -> Document:
    """Read what a share stores, in the form of earlier versions too."""
    return _DOCUMENT.validate_python(_with_sections(stored) if "charts" in stored else stored)


def unlinked(spec: dict[str, Any]) -> dict[str, Any]:
    """Leave out what leads to other pages: a reader of a share has no way there, and need not know their ids."""
    series = [line | {"points": [point | {"href": ""} for point in line["points"]]} for line in spec["series"]]
    marks = [mark | {"href": ""} for mark in spec["marks"]]
    return spec | {"series": series, "marks": marks, "csv_url": ""}


def _with_sections(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Read a view of before documents: charts, tables and a badge stood in it by themselves."""
    sections = stored.get("sections") or [*_views_sections(stored)]
    badge = {"label": stored.get("badge_label"), "value": stored.get("badge_value"), "is_bad": stored.get("is_bad")}
    fields = {name: stored[name] for name in ("title", "lines", "made_at", "is_synthetic") if name in stored}
    return fields | {"sections": sections, "badge": badge if badge["value"] else None}


def _views_sections(stored: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if stored["charts"]:
        yield {"key": "charts", "title": "", "charts": stored["charts"]}
    for number, table in enumerate(stored["tables"]):
        yield {"key": f"table-{number}", "title": table["title"], "tables": [table | {"title": ""}]}
