"""All pairs of an environment as a small matrix of verdicts: each pair's latest run beside those before it. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Literal

from benchweb.catalog import Metric
from benchweb.charts.matrix.verdicts import Word, usual_verdict
from benchweb.results.latest_deviations import LatestDeviation, MeshPair
from benchweb.results.nightly_summaries import night_of

# As many as a matrix shows at once, twelve by twelve.
MOST_PAIRS = 144
MeshWord = Word | Literal["missing"]


@dataclass(frozen=True)
class MeshCell:
    """A pair's place among sources (rows) and sinks (columns), both by their hosts' names, and its verdict."""

    row: int
    column: int
    word: MeshWord


@dataclass(frozen=True)
class VerdictMesh:
    """The pairs that are drawn, of `total`."""

    rows: int
    columns: int
    cells: Sequence[MeshCell]
    total: int

    @property
    def is_part(self) -> bool:
        return self.total > len(self.cells)

    @cached_property
    def counts(self) -> Counter[str]:
        """Count the pairs by their verdicts."""
        return Counter(cell.word for cell in self.cells)


def mesh_of(pairs: Sequence[MeshPair], metric: Metric, *, since: datetime, night: date) -> VerdictMesh:
    """Judge an environment's pairs; what gave nothing since then is missing, unless it took part in the night."""
    sources = _places({(pair.source_host.lower(), pair.source) for pair in pairs})
    sinks = _places({(pair.sink_host.lower(), pair.sink) for pair in pairs})
    cells = [MeshCell(sources[pair.source], sinks[pair.sink], _word(pair, metric, since, night)) for pair in pairs]
    return VerdictMesh(len(sources), len(sinks), cells, pairs[0].total if pairs else 0)


def _places(ends: set[tuple[str, int]]) -> dict[int, int]:
    return {endpoint: place for place, (_host, endpoint) in enumerate(sorted(ends))}


def _word(pair: MeshPair, metric: Metric, since: datetime, night: date) -> MeshWord:
    if pair.at is None or pair.median is None or (pair.at < since and night_of(pair.at) < night):
        return "missing"
    latest = LatestDeviation(0, 0, pair.at, pair.median, pair.baseline, pair.score, pair.runs_before or 0)
    return usual_verdict(latest, metric).word
