"""Kinds that other systems define with their results, beside the catalog's: held by each process, read anew in time.

This room has no ORM: who keeps the definitions registers what reads them (benchweb.imports.apps).
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from benchweb.common.cache import is_in_event_loop

if TYPE_CHECKING:
    from benchweb.catalog.document import Kind, Metric

# Before the names of such kinds: no kind of a later catalog can be one of them.
PREFIX = "own."
# How late a process learns of a kind that another one has defined.
READ_AGAIN_SECONDS = 5.0


class Definitions(NamedTuple):
    """All such kinds and their metrics, by name."""

    kinds: Mapping[str, "Kind"]
    metrics: Mapping[str, "Metric"]


class OwnKinds:
    """What this process knows of such kinds. Entries are only ever added, so that none is wrong, at most late."""

    def __init__(self) -> None:
        self.due_at = 0.0
        self._read: Callable[[], Definitions | None] | None = None
        self._known = Definitions({}, {})
        self._merged: dict[int, tuple[Any, Definitions, dict[str, Any]]] = {}

    def register(self, read: Callable[[], Definitions | None]) -> None:
        """Take what reads the definitions; it returns None where they can't be read just now."""
        self._read = read

    def read_now(self) -> None:
        """Read the definitions: called by who has added one."""
        self.due_at = time.monotonic() + READ_AGAIN_SECONDS
        if self._read is not None and (definitions := self._read()) is not None:
            self._known = definitions

    def known(self) -> Definitions:
        """Return the definitions, read anew when they are due; one query then."""
        if self._read is not None and time.monotonic() >= self.due_at and not is_in_event_loop():
            self.read_now()
        return self._known

    def forget(self) -> None:
        """Forget all: for tests, whose databases come and go."""
        self._known = Definitions({}, {})

    def kinds_beside(self, shipped: "dict[str, Kind]") -> "dict[str, Kind]":
        """Return the catalog's kinds and these."""
        known = self.known()
        return self._beside(shipped, known, known.kinds) if known.kinds else shipped

    def metrics_beside(self, shipped: "dict[str, Metric]") -> "dict[str, Metric]":
        """Return the catalog's metrics and these; of one name the catalog's."""
        known = self.known()
        return self._beside(shipped, known, known.metrics) if known.metrics else shipped

    def _beside(self, shipped: dict[str, Any], known: Definitions, added: Mapping[str, Any]) -> dict[str, Any]:
        kept = self._merged.get(id(shipped))
        if kept is None or kept[0] is not shipped or kept[1] is not known:
            kept = (shipped, known, {**added, **shipped} if added is known.metrics else {**shipped, **added})
            self._merged[id(shipped)] = kept
        return kept[2]


own_kinds = OwnKinds()
