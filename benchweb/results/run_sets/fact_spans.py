"""When pairs had a fact, such as a kernel: from what was seen of the facts of both ends."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.hosts.facts.changes import SeenFacts, fact_turns
from benchweb.hosts.facts.records import FACTS_SEEN_STEP
from benchweb.hosts.facts.values import FACTS
from benchweb.results.run_sets.sets import RunSet, SetPair

BEGINNING, END = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_MOST_FACTS = 5_000
_BEFORE_FIRST_FACTS = timedelta(hours=1)
_FACTS = """
SELECT endpoint_id AS endpoint, id::text AS digest, first_seen_at, last_seen_at, document #>> %(path)s AS value
FROM hosts_facts WHERE endpoint_id = ANY(%(endpoints)s) ORDER BY last_seen_at DESC LIMIT %(most)s
"""

Span = tuple[datetime, datetime]


class _Fact(NamedTuple):
    endpoint: int
    digest: str
    first_seen_at: datetime
    last_seen_at: datetime
    value: str | None


def fact_spans(sets: Sequence[RunSet], pairs: Sequence[SetPair]) -> dict[tuple[int, int], list[Span]]:
    """Return when each pair of a set with a fact had it; a query for each fact's name."""
    spans: dict[tuple[int, int], list[Span]] = {}
    for name in dict.fromkeys(run_set.fact for run_set in sets if run_set.fact in FACTS):
        concerned = [set_pair for set_pair in pairs if sets[set_pair.number].fact == name]
        seen = _seen(name, {end for set_pair in concerned for end in (set_pair.source, set_pair.sink)})
        for set_pair in concerned:
            spans[set_pair.number, set_pair.pair] = _pair_spans(sets[set_pair.number], set_pair, seen)
    return spans


def _seen(name: str, endpoints: set[int]) -> dict[int, list[tuple[Span, str | None]]]:
    """Return what each endpoint's fact was, and from when to when."""
    values = {"path": list(FACTS[name]), "endpoints": sorted(endpoints), "most": _MOST_FACTS}
    by_endpoint: dict[int, list[_Fact]] = defaultdict(list)
    for row in fetch(_Fact, _FACTS, values):
        by_endpoint[row.endpoint].append(row)
    return {endpoint: _turns(rows) for endpoint, rows in by_endpoint.items()}


def _turns(rows: Sequence[_Fact]) -> list[tuple[Span, str | None]]:
    """Return the spans of one endpoint's facts, one after the other.

    Facts come with results, so the first run of a new kernel begins before its facts are seen: what began once the
    former facts had been seen last is of the new ones; and what began shortly before any were seen, of the first.
    """
    known = {row.digest: row.value for row in rows}
    turns = fact_turns([SeenFacts(row.digest, row.first_seen_at, row.last_seen_at) for row in rows])
    begins = [turns[0][0] - _BEFORE_FIRST_FACTS] + [
        min(at, max(before, seen.last_seen_at + FACTS_SEEN_STEP)) for (before, seen), (at, _) in pairwise(turns)
    ]
    spans = zip(begins, [*begins[1:], END], strict=True)
    return [(span, known[seen.digest]) for span, (_, seen) in zip(spans, turns, strict=True)]


def _pair_spans(wanted: RunSet, set_pair: SetPair, seen: Mapping[int, Sequence[tuple[Span, str | None]]]) -> list[Span]:
    """Return when the host that a set names had the fact, on its end of a pair; without a host, when both ends had."""
    ends = [(set_pair.source, set_pair.source_host), (set_pair.sink, set_pair.sink_host)]
    counted = [end for end, host in ends if wanted.host in (None, host)]
    spans = [(BEGINNING, END)]
    for end in counted:
        its = [span for span, value in seen.get(end, []) if value == wanted.fact_value]
        spans = [span for one in spans for other in its if (span := overlap(one, other))]
    return spans


def overlap(one: Span, other: Span) -> Span | None:
    first, last = max(one[0], other[0]), min(one[1], other[1])
    return (first, last) if first < last else None
