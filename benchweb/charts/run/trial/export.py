"""A trial's intervals as CSV: a row each, in full precision, with raw counts beside the rates."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from benchweb.catalog import catalog
from benchweb.documents.csv_file import csv_parts
from benchweb.results.selectors import interval_parts

_BEFORE = ("start_seconds", "end_seconds", "warmup", "drain", "parts")
_INTERFACE = ("name", "rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
Parts = Callable[[], Iterable[list[dict[str, Any]]]]


def intervals_csv(trial_id: int) -> Iterator[str]:
    """Return all intervals of a trial, part by part; goes through them twice. What one lacks is an empty cell."""
    return csv_of(lambda: interval_parts(trial_id))


def csv_of(parts: Parts) -> Iterator[str]:
    """Return the CSV of intervals: metrics, their extremes where intervals are joined, counts, and interfaces."""
    names = _Names.of(parts())
    return csv_parts(names.columns(), (map(names.cells, part) for part in parts()))


class _Names:
    """The members that any of the intervals has."""

    def __init__(self) -> None:
        self.metrics: dict[str, None] = {}
        self.extremes: dict[str, None] = {}
        self.counts: dict[str, None] = {}
        self.ends: dict[str, None] = {}

    @classmethod
    def of(cls, parts: Iterable[list[dict[str, Any]]]) -> "_Names":
        """Go through all intervals; names are in the catalog's order."""
        names = cls()
        for one in (interval for part in parts for interval in part):
            for collected, keys in zip(
                (names.metrics, names.extremes, names.counts, names.ends), _parts_of(one), strict=True
            ):
                collected.update(dict.fromkeys(keys))
        known = {key: None for key in catalog().metrics if key in names.metrics}
        names.metrics = known | names.metrics
        return names

    def columns(self) -> list[str]:
        """Return the head of the table; every name ends in its unit."""
        extremes = [f"{key}_{which}" for key in self.metrics if key in self.extremes for which in ("lowest", "highest")]
        counts = [f"{key}_count" for key in self.counts]
        interfaces = [f"{end}_interface_{key}" for end in self.ends for key in _INTERFACE]
        return [*_BEFORE, *self.metrics, *extremes, *counts, *interfaces]

    def cells(self, interval: Mapping[str, Any]) -> list[Any]:
        """Return a row in the same order."""
        metrics, extremes, counts, interfaces = _parts_of(interval)
        none = (None, None)
        return [
            *(interval.get(key) or _ABSENT.get(key) for key in _BEFORE),
            *(metrics.get(key) for key in self.metrics),
            *(bound for key in self.metrics if key in self.extremes for bound in extremes.get(key) or none),
            *(counts.get(key) for key in self.counts),
            *((interfaces.get(end) or {}).get(key) for end in self.ends for key in _INTERFACE),
        ]


_ABSENT = {"start_seconds": 0.0, "end_seconds": 0.0, "warmup": False, "drain": False, "parts": 1}


def _parts_of(interval: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    metrics, extremes, counts, interfaces = (
        interval.get(key) or {} for key in ("metrics", "extremes", "counts", "interfaces")
    )
    return metrics, extremes, counts, interfaces
