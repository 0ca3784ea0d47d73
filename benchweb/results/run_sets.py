"""Samples of runs: those of a pair, an environment, a host or a label, of a plan, a period and a fact.

The sample is a run's median, so that nights of three repetitions add up. Points are never read for it.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from benchweb.catalog.document import TOOL
from benchweb.common.rows import fetch
from benchweb.hosts.facts.changes import SeenFacts, fact_turns
from benchweb.hosts.facts.records import FACTS_SEEN_STEP
from benchweb.hosts.facts.values import FACTS
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import State

# Of a set's pairs so many, and of each series so many runs that there are about as many of a set in all: the newest.
MOST_PAIRS = 40
_MOST_RUNS = 100
_LEAST_RUNS = 5
_MOST_FACTS = 5_000
_BEFORE_FIRST_FACTS = timedelta(hours=1)
_BEGINNING, _END = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

_PATTERN_SIGNS, _ESCAPED = re.compile(r"[%_\\]"), r"\\\g<0>"

_OF_HOST = "(SELECT id FROM hosts_endpoint WHERE host_id = %({set})s)"
# The engine's own series name no tool.
_TOOL_OF_SERIES = f"coalesce(series.identity ->> '{TOOL.name}', '{TOOL.default}')"
_CONDITIONS = {
    "pair": "pair.id = %({set})s",
    "environment": "pair.environment_id = %({set})s",
    "host": f"(pair.source_id IN {_OF_HOST} OR pair.sink_id IN {_OF_HOST})",
    "label": "%({set})s = ANY(pair.labels || source_host.labels || sink_host.labels)",
    "campaign": "pair.id IN (SELECT pair_id FROM runs_run WHERE campaign_id = %({set})s)",
    "run": "pair.id = (SELECT pair_id FROM runs_run WHERE id = %({set})s)",
    "plan": """pair.id IN (SELECT run.pair_id FROM runs_run run
      JOIN plans_planversion version ON version.id = run.plan_version_id WHERE version.plan_id = %({set})s)""",
    "tool": f"EXISTS (SELECT FROM results_series series WHERE pair_id = pair.id AND {_TOOL_OF_SERIES} = %({{set}})s)",
}
# Of each pair one run.
_ONE_RUN = {
    "run": "%({set})s::bigint",
    "campaign": "(SELECT id FROM runs_run WHERE campaign_id = %({set})s AND pair_id = pair.id)",
}
# Both ends had it at some time: which runs had it is told by the spans.
_FACT_ENDS = """
  AND pair.source_id IN ({endpoints}) AND pair.sink_id IN ({endpoints})"""
_FACT_ENDPOINTS = """SELECT endpoint_id FROM hosts_facts
    WHERE upper(words) LIKE upper(%(pattern{number})s) AND document #>> %(path{number})s = %(value{number})s"""
_PAIRS = """
(SELECT {number} AS number, pair.id AS pair, source.id AS source, sink.id AS sink, source.host_id AS source_host,
  sink.host_id AS sink_host, count(*) OVER () AS total, {run} AS run
FROM hosts_pair pair
JOIN hosts_endpoint source ON source.id = pair.source_id JOIN hosts_host source_host ON source_host.id = source.host_id
JOIN hosts_endpoint sink ON sink.id = pair.sink_id JOIN hosts_host sink_host ON sink_host.id = sink.host_id
WHERE EXISTS (SELECT FROM results_series WHERE pair_id = pair.id) {only}
ORDER BY pair.archived_at IS NOT NULL, pair.id LIMIT %(most_pairs)s)
"""
_FACTS = """
SELECT endpoint_id AS endpoint, id::text AS digest, first_seen_at, last_seen_at, document #>> %(path)s AS value
FROM hosts_facts WHERE endpoint_id = ANY(%(endpoints)s) ORDER BY last_seen_at DESC LIMIT %(most)s
"""
# One row a series and span: everything is in the index of figures by series.
_FIGURES = """
SELECT span.number, series.pair_id AS pair, series.kind, series.metric, series.identity,
  series.identity_digest AS digest, latest.runs, latest.ats, latest.medians
FROM unnest(%(numbers)s::int[], %(pairs)s::bigint[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[],
  %(plans)s::bigint[], %(runs)s::bigint[], %(tools)s::text[], %(mosts)s::int[])
  AS span(number, pair, first, last, plan, run, tool, most)
JOIN results_series series ON series.pair_id = span.pair AND (span.tool = '' OR {tool_of_series} = span.tool) {only}
CROSS JOIN LATERAL (
  SELECT array_agg(run_id) AS runs, array_agg(at) AS ats, array_agg(median) AS medians FROM (
    SELECT figure.run_id, figure.at, figure.median FROM results_runfigure figure
    WHERE figure.series_id = series.id AND figure.at >= span.first AND figure.at < span.last
      AND (span.run IS NULL OR figure.run_id = span.run)
      AND (span.plan IS NULL OR EXISTS (SELECT FROM runs_run run
        JOIN plans_planversion version ON version.id = run.plan_version_id
        WHERE run.id = figure.run_id AND version.plan_id = span.plan))
    ORDER BY figure.at DESC LIMIT span.most
  ) newest
) latest
WHERE latest.runs IS NOT NULL
"""


@dataclass(frozen=True)
class RunSet:
    """Which runs; None and empty narrow nothing. A fact is of the host where one is named, else of both ends."""

    run: int | None = None
    campaign: int | None = None
    pair: int | None = None
    environment: int | None = None
    host: int | None = None
    label: str = ""
    plan: int | None = None
    first: datetime | None = None
    # Runs that began before it.
    last: datetime | None = None
    fact: str = ""
    fact_value: str = ""
    # Whose measurements; a tool is no part of what is compared then.
    tool: str = ""

    @property
    def narrows(self) -> bool:
        """Tell whether it says anything at all of which pairs are meant."""
        ids = (self.run, self.campaign, self.pair, self.environment, self.host, self.plan)
        return any((*ids, self.label, self.fact, self.tool))


@dataclass(frozen=True)
class Sample:
    """What a set gave: a row for each run and test, its metrics being medians; and the pair of each run."""

    trials: list[TrialRow]
    pair_of_run: dict[int, int]
    # Of how many pairs there are, those that have results and match.
    pairs: int
    total_pairs: int
    first: datetime | None
    last: datetime | None


class _SetPair(NamedTuple):
    number: int
    pair: int
    source: int
    sink: int
    source_host: int
    sink_host: int
    total: int
    # The one that is meant, where the set is of one run of each pair.
    run: int | None


class _Fact(NamedTuple):
    endpoint: int
    digest: str
    first_seen_at: datetime
    last_seen_at: datetime
    value: str | None


class _Figures(NamedTuple):
    number: int
    pair: int
    kind: str
    metric: str
    identity: dict[str, Any]
    digest: str
    runs: list[int]
    ats: list[datetime]
    medians: list[float]


_Span = tuple[datetime, datetime]
_SPAN = ("numbers", "pairs", "firsts", "lasts", "plans", "runs", "tools", "mosts")


def samples(sets: Sequence[RunSet], *, metrics: Sequence[str] = (), kind: str = "") -> list[Sample]:
    """Return what each of some sets gave, of these metrics or of all; two queries, and one for each fact's name."""
    pairs = _pairs(sets)
    known = _fact_spans(sets, pairs)
    values: dict[str, list[Any]] = defaultdict(list)
    for set_pair in pairs:
        wanted = sets[set_pair.number]
        most = max(_LEAST_RUNS, _MOST_RUNS // min(set_pair.total, MOST_PAIRS))
        for first, last in _within(wanted, known.get((set_pair.number, set_pair.pair))):
            row = (set_pair.number, set_pair.pair, first, last, wanted.plan, set_pair.run, wanted.tool, most)
            for name, value in zip(_SPAN, row, strict=True):
                values[name].append(value)
    rows: list[_Figures] = []
    if values:
        only = "AND series.metric = ANY(%(metrics)s) " if metrics else ""
        only += "AND series.kind = %(kind)s" if kind else ""
        parameters = dict(values) | {"metrics": list(metrics), "kind": kind}
        rows = fetch(_Figures, _FIGURES.format(only=only, tool_of_series=_TOOL_OF_SERIES), parameters)
    return [_sample(number, pairs, rows, is_of_a_tool=bool(wanted.tool)) for number, wanted in enumerate(sets)]


def _pairs(sets: Sequence[RunSet]) -> list[_SetPair]:
    """Return the pairs of all sets, in use first; one query."""
    statements, values = [], dict[str, Any](most_pairs=MOST_PAIRS)
    for number, run_set in enumerate(sets):
        if not run_set.narrows:
            continue
        only, run = "", "NULL::bigint"
        for name, condition in _CONDITIONS.items():
            if value := getattr(run_set, name):
                key = f"{name}{number}"
                values[key] = value
                only += f" AND {condition.format(set=key)}"
                run = _ONE_RUN[name].format(set=key) if name in _ONE_RUN else run
        if run_set.fact in FACTS and run_set.host is None:
            # The pattern is found by an index; the documents of those rows alone are read.
            values[f"pattern{number}"] = f"%{_PATTERN_SIGNS.sub(_ESCAPED, run_set.fact_value)}%"
            values |= {f"path{number}": list(FACTS[run_set.fact]), f"value{number}": run_set.fact_value}
            only += _FACT_ENDS.format(endpoints=_FACT_ENDPOINTS.format(number=number))
        statements.append(_PAIRS.format(number=number, only=only, run=run))
    return fetch(_SetPair, " UNION ALL ".join(statements), values) if statements else []


def _fact_spans(sets: Sequence[RunSet], pairs: Sequence[_SetPair]) -> dict[tuple[int, int], list[_Span]]:
    """Return when each pair of a set with a fact had it; a query for each fact's name."""
    spans: dict[tuple[int, int], list[_Span]] = {}
    for name in dict.fromkeys(run_set.fact for run_set in sets if run_set.fact in FACTS):
        concerned = [set_pair for set_pair in pairs if sets[set_pair.number].fact == name]
        seen = _seen(name, {end for set_pair in concerned for end in (set_pair.source, set_pair.sink)})
        for set_pair in concerned:
            spans[set_pair.number, set_pair.pair] = _pair_spans(sets[set_pair.number], set_pair, seen)
    return spans


def _seen(name: str, endpoints: set[int]) -> dict[int, list[tuple[_Span, str | None]]]:
    """Return what each endpoint's fact was, and from when to when."""
    values = {"path": list(FACTS[name]), "endpoints": sorted(endpoints), "most": _MOST_FACTS}
    by_endpoint: dict[int, list[_Fact]] = defaultdict(list)
    for row in fetch(_Fact, _FACTS, values):
        by_endpoint[row.endpoint].append(row)
    return {endpoint: _turns(rows) for endpoint, rows in by_endpoint.items()}


def _turns(rows: Sequence[_Fact]) -> list[tuple[_Span, str | None]]:
    """Return the spans of one endpoint's facts, one after the other.

    Facts come with results, so the first run of a new kernel begins before its facts are seen: what began once the
    former facts had been seen last is of the new ones; and what began shortly before any were seen, of the first.
    """
    known = {row.digest: row.value for row in rows}
    turns = fact_turns([SeenFacts(row.digest, row.first_seen_at, row.last_seen_at) for row in rows])
    begins = [turns[0][0] - _BEFORE_FIRST_FACTS] + [
        min(at, max(before, seen.last_seen_at + FACTS_SEEN_STEP)) for (before, seen), (at, _) in pairwise(turns)
    ]
    spans = zip(begins, [*begins[1:], _END], strict=True)
    return [(span, known[seen.digest]) for span, (_, seen) in zip(spans, turns, strict=True)]


def _pair_spans(
    wanted: RunSet, set_pair: _SetPair, seen: Mapping[int, Sequence[tuple[_Span, str | None]]]
) -> list[_Span]:
    """Return when the host that a set names had the fact, on its end of a pair; without a host, when both ends had."""
    ends = [(set_pair.source, set_pair.source_host), (set_pair.sink, set_pair.sink_host)]
    counted = [end for end, host in ends if wanted.host in (None, host)]
    spans = [(_BEGINNING, _END)]
    for end in counted:
        its = [span for span, value in seen.get(end, []) if value == wanted.fact_value]
        spans = [span for one in spans for other in its if (span := _overlap(one, other))]
    return spans


def _within(wanted: RunSet, spans: Sequence[_Span] | None) -> list[_Span]:
    whole = (wanted.first or _BEGINNING, wanted.last or _END)
    return [part for span in ([whole] if spans is None else spans) if (part := _overlap(whole, span))]


def _overlap(one: _Span, other: _Span) -> _Span | None:
    first, last = max(one[0], other[0]), min(one[1], other[1])
    return (first, last) if first < last else None


def _sample(number: int, pairs: Sequence[_SetPair], rows: Sequence[_Figures], *, is_of_a_tool: bool) -> Sample:
    totals = [set_pair.total for set_pair in pairs if set_pair.number == number]
    trials: dict[tuple[int, str, str], TrialRow] = {}
    pair_of_run: dict[int, int] = {}
    ats: list[datetime] = []
    for row in rows:
        if row.number != number:
            continue
        ats += row.ats
        for run, median in zip(row.runs, row.medians, strict=True):
            pair_of_run[run] = row.pair
            key = (run, row.kind, row.digest)
            if key not in trials:
                trials[key] = _trial(run, row.kind, _without_tool(row.identity) if is_of_a_tool else row.identity)
            trials[key].metrics[row.metric] = median
    return Sample(
        trials=list(trials.values()),
        pair_of_run=pair_of_run,
        pairs=len(set(pair_of_run.values())),
        total_pairs=max(totals, default=0),
        first=min(ats, default=None),
        last=max(ats, default=None),
    )


def _without_tool(identity: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in identity.items() if name != TOOL.name}


def _trial(run: int, kind: str, identity: dict[str, Any]) -> TrialRow:
    """Return a run's figures of a test as the row of a trial, which comparisons and curves are made of."""
    return TrialRow(
        id=run,
        index=0,
        kind=kind,
        params=identity,
        repetition=1,
        state=State.FINISHED,
        reason="",
        reason_data=None,
        started_at=None,
        finished_at=None,
        metrics={},
        flags=[],
        limits=[],
        has_result=True,
    )
