"""Kinds that other systems define with their results, beside the catalog's.

This room has no ORM: who keeps the definitions registers what returns them (benchweb.imports.apps).
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchweb.catalog.document import Kind
    from benchweb.catalog.parts import Metric

# Before the names of such kinds: no kind of a later catalog can be one of them.
PREFIX = "own."


class Definitions(NamedTuple):
    """All such kinds and their metrics, by name."""

    kinds: Mapping[str, "Kind"]
    metrics: Mapping[str, "Metric"]


NONE = Definitions({}, {})


class OwnKinds:
    """What this process knows of such kinds: none is changed, so that what it knows is at most late."""

    def __init__(self) -> None:
        self._known: Callable[[], Definitions] = lambda: NONE
        self._merged: dict[int, tuple[Any, Definitions, dict[str, Any]]] = {}

    def register(self, known: Callable[[], Definitions]) -> None:
        """Take what returns the definitions; the same object as long as they are the same."""
        self._known = known

    def kinds_beside(self, shipped: "dict[str, Kind]") -> "dict[str, Kind]":
        """Return the catalog's kinds and these."""
        known = self._known()
        return self._beside(shipped, known, known.kinds) if known.kinds else shipped

    def metrics_beside(self, shipped: "dict[str, Metric]") -> "dict[str, Metric]":
        """Return the catalog's metrics and these; of one name the catalog's."""
        known = self._known()
        return self._beside(shipped, known, known.metrics) if known.metrics else shipped

    def _beside(self, shipped: dict[str, Any], known: Definitions, added: Mapping[str, Any]) -> dict[str, Any]:
        merged = self._merged.get(id(shipped))
        if merged is None or merged[0] is not shipped or merged[1] is not known:
            merged = (shipped, known, {**added, **shipped} if added is known.metrics else {**shipped, **added})
            self._merged[id(shipped)] = merged
        return merged[2]


own_kinds = OwnKinds()
