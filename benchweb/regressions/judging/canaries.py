"""Find the canaries of pairs: what their hosts measured alone in the same nights, which no network can change."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.hosts.canaries import LESS_IS_BETTER

# Of disks' figures nothing is to be learned of what passes a network.
KIND, METRIC = "memory_bandwidth", "memory_bytes_per_second"
# Further off it is another night's.
_MOST_APART = timedelta(hours=6)
# On the average: a pair that two or three plans test in a night.
_MOST_RUNS_OF_FIGURE = 3
# What the endpoints' engines measure by themselves; and what a schedule measures of the host alone, in one environment:
# there a host is set up as it is for its pairs.
_SQL = """
SELECT pair.id AS pair_id, own.host_id, -own.id AS series_id, figure.metric, figure.at, figure.median
FROM hosts_pair pair
JOIN hosts_endpoint own ON own.id IN (pair.source_id, pair.sink_id)
JOIN hosts_canaryfigure figure ON figure.endpoint_id = own.id AND figure.at BETWEEN %(first)s AND %(last)s
WHERE pair.id = ANY(%(pairs)s) AND pair.source_id <> pair.sink_id
UNION ALL
SELECT pair.id, own.host_id, series.id, series.metric, figure.at, figure.median
FROM hosts_pair pair
JOIN hosts_endpoint own ON own.id IN (pair.source_id, pair.sink_id)
JOIN hosts_endpoint other ON other.host_id = own.host_id
JOIN hosts_pair alone
  ON alone.source_id = other.id AND alone.sink_id = other.id AND alone.environment_id = pair.environment_id
JOIN results_series series ON series.pair_id = alone.id AND series.kind = %(kind)s AND series.metric = %(metric)s
JOIN results_runfigure figure ON figure.series_id = series.id AND figure.at BETWEEN %(first)s AND %(last)s
WHERE pair.id = ANY(%(pairs)s) AND pair.source_id <> pair.sink_id
ORDER BY 1, 3, 4, 5
"""


class _Row(NamedTuple):
    pair_id: int
    host_id: int
    series_id: int
    metric: str
    at: datetime
    median: float


class Canary(NamedTuple):
    """What a host measured alone, by time: a larger figure is a faster host, also where the metric is a time."""

    host_id: int
    metric: str
    ats: Sequence[datetime]
    values: Sequence[float]

    def beside(self, runs: Sequence[datetime]) -> list[float | None]:
        """Return the figure nearest to each run; None where none is of the same night.

        Of runs that follow each other all day a night's figure says nothing: then all are None.
        """
        places = [self._nearest(at) for at in runs]
        known = [place for place in places if place is not None]
        is_of_all_day = len(known) > _MOST_RUNS_OF_FIGURE * len(set(known))
        return [None if place is None or is_of_all_day else self.values[place] for place in places]

    def _nearest(self, at: datetime) -> int | None:
        after = bisect_left(self.ats, at)
        near = range(max(0, after - 1), min(after + 1, len(self.ats)))
        place = min(near, key=lambda index: abs(self.ats[index] - at), default=None)
        return None if place is None or abs(self.ats[place] - at) > _MOST_APART else place


def canaries_of_pairs(pair_ids: Collection[int], first: datetime, last: datetime) -> Mapping[int, list[Canary]]:
    """Return the canaries of each pair's hosts between two times, one a host and metric; one query."""
    params = {"pairs": sorted(pair_ids), "kind": KIND, "metric": METRIC}
    rows = fetch(_Row, _SQL, params | {"first": first - _MOST_APART, "last": last + _MOST_APART})
    measured: dict[tuple[int, int, str], dict[int, list[_Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        measured[row.pair_id, row.host_id, row.metric][row.series_id].append(row)
    canaries: dict[int, list[Canary]] = defaultdict(list)
    for (pair_id, host_id, metric), by_series in measured.items():
        # Of several, by their parameters, the one that was measured most: each takes its time to be fitted.
        its = max(by_series.values(), key=len)
        values = [1 / row.median if metric in LESS_IS_BETTER else row.median for row in its if row.median]
        canaries[pair_id].append(Canary(host_id, metric, [row.at for row in its if row.median], values))
    return canaries
