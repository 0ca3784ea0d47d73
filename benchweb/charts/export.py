"""What all exports share: a pair's ids as the last columns."""

from typing import Protocol

from benchweb.documents.document import RowId

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


def pair_ids(pair: ExportedPair) -> dict[str, RowId | None]:
    """Return the ids by the names of their columns; None where names are replaced by pseudonyms."""
    source, sink = pair.source, pair.sink
    ids = (pair.pk, source.host_id, source.pk, sink.host_id, sink.pk, pair.environment_id)
    return {name: None if pk is None else RowId(pk) for name, pk in zip(PAIR_IDS, ids, strict=True)}
