"""What all exports share: cells that a spreadsheet takes as they are, and a pair's ids as the last columns."""

from datetime import datetime
from typing import Any, Protocol

from benchweb.catalog import nested_text
from benchweb.documents.moments import rfc3339

# What a spreadsheet takes for the start of a formula; in East Asian languages full-width signs are taken too.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
# Names change and ids don't.
PAIR_IDS = ("pair_id", "source_host_id", "source_endpoint_id", "sink_host_id", "sink_endpoint_id", "environment_id")


class ExportedEnd(Protocol):
    """An endpoint, as far as an export needs it."""

    @property
    def pk(self) -> int | None: ...
    @property
    def host_id(self) -> int | None: ...


class ExportedPair(Protocol):
    """A pair, as far as an export needs it."""

    @property
    def pk(self) -> int | None: ...
    @property
    def environment_id(self) -> int | None: ...
    @property
    def source(self) -> ExportedEnd: ...
    @property
    def sink(self) -> ExportedEnd: ...


class Line:
    """What csv writes to: it hands each line on."""

    def write(self, text: str) -> str:
        """Return what is written."""
        return text


def cell(value: Any) -> Any:
    """Write a value for a spreadsheet: in full precision, and no text as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | float):
        return nested_text(value) if isinstance(value, dict) else repr(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    # A text such as "=HYPERLINK(…)" in a host's error message must stay text in a spreadsheet.
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def pair_ids(pair: ExportedPair) -> dict[str, int | None]:
    """Return the ids by the names of their columns; None where names are replaced by pseudonyms."""
    source, sink = pair.source, pair.sink
    ids = (pair.pk, source.host_id, source.pk, sink.host_id, sink.pk, pair.environment_id)
    return dict(zip(PAIR_IDS, ids, strict=True))
