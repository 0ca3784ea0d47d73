"""Samples of runs: those of a pair, an environment, a host or a label, of a plan, a period and a fact.

The sample is a run's median, so that nights of three repetitions add up. Points are never read for it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from benchweb.catalog.parts import TOOL
from benchweb.common.rows import fetch
from benchweb.hosts.facts.values import FACTS
from benchweb.results.run_sets.fact_spans import BEGINNING, END, Span, fact_spans, overlap
from benchweb.results.run_sets.sets import RunSet, Sample, SetPair
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import State

# Of a set's pairs so many, and of each series so many runs that there are about as many of a set in all: the newest.
MOST_PAIRS = 40
_MOST_RUNS = 100
_LEAST_RUNS = 5

_PATTERN_SIGNS, _ESCAPED = re.compile(r"[%_\\]"), r"\\\g<0>"

_OF_HOST = "(SELECT id FROM hosts_endpoint WHERE host_id = %({set})s)"
# The engine's own series name no tool.
_TOOL_OF_SERIES = f"coalesce(series.identity ->> '{TOOL.name}', '{TOOL.default}')"
_LABELLED = "%({set})s = ANY(pair.labels || source_host.labels || sink_host.labels)"
_OF_LABELLED_PLANS = """pair.id IN (SELECT run.pair_id FROM runs_run run
      JOIN plans_planversion version ON version.id = run.plan_version_id
      JOIN plans_plan plan ON plan.id = version.plan_id WHERE %({set})s = ANY(plan.labels))"""
_CONDITIONS = {
    "pair": "pair.id = %({set})s",
    "environment": "pair.environment_id = %({set})s",
    "host": f"(pair.source_id IN {_OF_HOST} OR pair.sink_id IN {_OF_HOST})",
    "label": f"({_LABELLED} OR {_OF_LABELLED_PLANS})",
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
_PAIRS_OF_SET = """
SELECT {number} AS number, pair.id AS pair, source.id AS source, sink.id AS sink, source.host_id AS source_host,
  sink.host_id AS sink_host, pair.archived_at IS NOT NULL AS is_archived, {run} AS run, {plan_label} AS plan_label
FROM hosts_pair pair
JOIN hosts_endpoint source ON source.id = pair.source_id JOIN hosts_host source_host ON source_host.id = source.host_id
JOIN hosts_endpoint sink ON sink.id = pair.sink_id JOIN hosts_host sink_host ON sink_host.id = sink.host_id
WHERE EXISTS (SELECT FROM results_series WHERE pair_id = pair.id) {only}
"""
# Of more pairs than are read those come first that other sets have too, by their hosts: these can be compared.
_PAIRS = """
SELECT number, pair, source, sink, source_host, sink_host, total, run, plan_label FROM (
  SELECT *, count(*) OVER (PARTITION BY number) AS total,
    row_number() OVER (PARTITION BY number ORDER BY is_shared DESC, is_archived, pair) AS place
  FROM (
    SELECT matching.*, least_number IS DISTINCT FROM most_number AS is_shared
    FROM (SELECT *, min(number) OVER alike AS least_number, max(number) OVER alike AS most_number
      FROM ({sets}) each WINDOW alike AS (PARTITION BY source_host, sink_host)) matching
  ) shared
) ranked
WHERE place <= %(most_pairs)s ORDER BY number, place
"""
# One row a series and span: everything is in the index of figures by series.
_FIGURES = """
SELECT span.number, series.pair_id AS pair, series.kind, series.metric, series.identity,
  series.identity_digest AS digest, latest.runs, latest.ats, latest.medians
FROM unnest(%(numbers)s::int[], %(pairs)s::bigint[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[],
  %(plans)s::bigint[], %(plan_labels)s::text[], %(runs)s::bigint[], %(tools)s::text[], %(mosts)s::int[])
  AS span(number, pair, first, last, plan, plan_label, run, tool, most)
JOIN results_series series ON series.pair_id = span.pair AND (span.tool = '' OR {tool_of_series} = span.tool) {only}
CROSS JOIN LATERAL (
  SELECT array_agg(run_id) AS runs, array_agg(at) AS ats, array_agg(median) AS medians FROM (
    SELECT figure.run_id, figure.at, figure.median FROM results_runfigure figure
    WHERE figure.series_id = series.id AND figure.at >= span.first AND figure.at < span.last
      AND (span.run IS NULL OR figure.run_id = span.run)
      AND (span.plan IS NULL OR EXISTS (SELECT FROM runs_run run
        JOIN plans_planversion version ON version.id = run.plan_version_id
        WHERE run.id = figure.run_id AND version.plan_id = span.plan))
      AND (span.plan_label = '' OR EXISTS (SELECT FROM runs_run run
        JOIN plans_planversion version ON version.id = run.plan_version_id
        JOIN plans_plan plan ON plan.id = version.plan_id
        WHERE run.id = figure.run_id AND span.plan_label = ANY(plan.labels)))
    ORDER BY figure.at DESC LIMIT span.most
  ) newest
) latest
WHERE latest.runs IS NOT NULL
"""


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


_SPAN = ("numbers", "pairs", "firsts", "lasts", "plans", "plan_labels", "runs", "tools", "mosts")


def samples(sets: Sequence[RunSet], *, metrics: Sequence[str] = (), kind: str = "") -> list[Sample]:
    """Return what each of some sets gave, of these metrics or of all; two queries, and one for each fact's name."""
    pairs = _pairs(sets)
    known = fact_spans(sets, pairs)
    values: dict[str, list[Any]] = defaultdict(list)
    for set_pair in pairs:
        wanted = sets[set_pair.number]
        most = max(_LEAST_RUNS, _MOST_RUNS // min(set_pair.total, MOST_PAIRS))
        for first, last in _within(wanted, known.get((set_pair.number, set_pair.pair))):
            of_plan = (wanted.plan, set_pair.plan_label)
            row = (set_pair.number, set_pair.pair, first, last, *of_plan, set_pair.run, wanted.tool, most)
            for name, value in zip(_SPAN, row, strict=True):
                values[name].append(value)
    rows: list[_Figures] = []
    if values:
        only = "AND series.metric = ANY(%(metrics)s) " if metrics else ""
        only += "AND series.kind = %(kind)s" if kind else ""
        parameters = dict(values) | {"metrics": list(metrics), "kind": kind}
        rows = fetch(_Figures, _FIGURES.format(only=only, tool_of_series=_TOOL_OF_SERIES), parameters)
    return [_sample(number, pairs, rows, is_of_a_tool=bool(wanted.tool)) for number, wanted in enumerate(sets)]


def _pairs(sets: Sequence[RunSet]) -> list[SetPair]:
    """Return the pairs of all sets, in use first; one query."""
    statements, values = [], dict[str, Any](most_pairs=MOST_PAIRS)
    for number, run_set in enumerate(sets):
        if not run_set.narrows:
            continue
        only, run, plan_label = "", "NULL::bigint", "''"
        for name, condition in _CONDITIONS.items():
            if value := getattr(run_set, name):
                key = f"{name}{number}"
                values[key] = value
                only += f" AND {condition.format(set=key)}"
                run = _ONE_RUN[name].format(set=key) if name in _ONE_RUN else run
        if run_set.label:
            key = f"label{number}"
            # Of a pair that has it all runs, of another those of the plans that have it.
            plan_label = f"CASE WHEN {_LABELLED.format(set=key)} THEN '' ELSE %({key})s END"
        if run_set.fact in FACTS and run_set.host is None:
            # The pattern is found by an index; the documents of those rows alone are read.
            values[f"pattern{number}"] = f"%{_PATTERN_SIGNS.sub(_ESCAPED, run_set.fact_value)}%"
            values |= {f"path{number}": list(FACTS[run_set.fact]), f"value{number}": run_set.fact_value}
            only += _FACT_ENDS.format(endpoints=_FACT_ENDPOINTS.format(number=number))
        statements.append(_PAIRS_OF_SET.format(number=number, only=only, run=run, plan_label=plan_label))
    return fetch(SetPair, _PAIRS.format(sets=" UNION ALL ".join(statements)), values) if statements else []


def _within(wanted: RunSet, spans: Sequence[Span] | None) -> list[Span]:
    whole = (wanted.first or BEGINNING, wanted.last or END)
    return [part for span in ([whole] if spans is None else spans) if (part := overlap(whole, span))]


def _sample(number: int, pairs: Sequence[SetPair], rows: Sequence[_Figures], *, is_of_a_tool: bool) -> Sample:
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
        hosts_of_pair={each.pair: (each.source_host, each.sink_host) for each in pairs if each.number == number},
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
