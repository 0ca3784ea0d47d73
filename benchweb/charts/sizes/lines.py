"""What a message-size view rests on: series run by run, or where those are too many environments night by night."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NamedTuple

from benchweb.catalog import Kind
from benchweb.charts.history.line_names import Parts, setting_parts
from benchweb.charts.history.lines import LinePair, Selection, chosen_lines, conditions, parameter_conditions
from benchweb.charts.history.query import HistoryQuery
from benchweb.common.rows import fetch
from benchweb.documents.references import Label, environment_ref
from benchweb.hosts.pairs import with_pairs
from benchweb.runs.models import Run

# Of each place and parameters so many lines can be told apart.
MOST_OVERLAID = 8
# To read a run's figure takes a thousandth of a millisecond, and a page has 50. Most sweeps of a pair are read whole.
_MOST_FIGURES, _LEAST_SERIES, _MOST_SERIES = 12_000, 40, 240
_DAY = timedelta(days=1)

_NIGHTS = """
SELECT s.environment_id, s.identity_digest AS digest, e.name AS environment, s.identity, s.metric, s.id AS pk,
  s.most_pairs
FROM results_environmentnights s JOIN hosts_environment e ON e.id = s.environment_id
WHERE s.kind = %(kind)s AND s.metric = ANY(%(metrics)s){only} ORDER BY s.environment_id, s.id
"""
# The latest that gave something to any of the series: of another test's runs nothing would be drawn, in the place of
# those that there are. Looked up run by run: of a join, all points of all the series would be read.
_RUNS = with_pairs("""
WITH chosen AS MATERIALIZED (
  SELECT s.id, s.pair_id FROM results_series s JOIN hosts_pair pair ON pair.id = s.pair_id {pair_ends}
  WHERE s.kind = %(kind)s AND s.metric = %(main)s{only}
)
SELECT run.id AS pk, run.pair_id FROM runs_run run CROSS JOIN LATERAL (
  SELECT FROM results_point point WHERE point.run_id = run.id AND point.series_id = ANY(ARRAY(SELECT id FROM chosen))
  LIMIT 1) given
WHERE run.state IN ('finished', 'failed') AND run.created_at >= %(first)s AND run.created_at <= %(last)s{of_plan}
  AND run.pair_id IN (SELECT pair_id FROM chosen)
ORDER BY run.id DESC LIMIT %(most)s
""")
_OF_PLAN = " AND run.plan_version_id IN (SELECT id FROM plans_planversion WHERE plan_id = %(plan)s)"


class _Nights(NamedTuple):
    """A test's nights in an environment, and what the most pairs of one night are."""

    environment_id: int
    digest: str
    environment: str
    identity: dict[str, Any]
    metric: str
    pk: int
    most_pairs: int


class _RunOfPair(NamedTuple):
    """A run and its pair."""

    pk: int
    pair_id: int


@dataclass(frozen=True)
class SizeLine:
    """A test of a pair, or of all pairs of an environment: the ids of what it gave, by metric."""

    environment_id: int
    environment: str
    # None for all of them.
    pair: LinePair | None
    identity: Mapping[str, Any]
    ids: Mapping[str, int]


@dataclass(frozen=True)
class SizeLines:
    """The lines that are read, and of how many series they are."""

    lines: Sequence[SizeLine]
    # How many match, and of how many the lines are; of nights only what the most pairs of one had.
    total: int
    series: int
    is_by_night: bool = False
    # Those that are drawn one by one, each with its pair; `are_more_runs` where others match too.
    runs: Mapping[int, int] = field(default_factory=dict)
    are_more_runs: bool = False

    @property
    def pairs(self) -> list[LinePair]:
        return list({line.pair.pk: line.pair for line in self.lines if line.pair}.values())

    def parts(self, kind: Kind) -> Parts:
        """Return every line's parts by name, the same names for all."""
        ends = [
            ({"pair": line.pair.words} if line.pair else dict[str, Label]())
            | {"environment": environment_ref(line.environment)}
            for line in self.lines
        ]
        settings = setting_parts([line.identity for line in self.lines], kind)
        return [end | part for end, part in zip(ends, settings, strict=True)]


def size_lines(query: HistoryQuery, kind: Kind) -> SizeLines:
    """Choose what a view rests on; two queries, and one more for a plan.

    Whole environments are read night by night where to read all their runs would take too long.
    """
    metrics = kind.swept_metrics
    most = _most_series(query, len(metrics))
    if _may_be_by_night(query):
        nights = _nights(query, kind)
        if nights.total > most:
            return nights
    found_runs = _runs(query, kind) if query.overlay == "run" else {}
    runs = dict([*found_runs.items()][:MOST_OVERLAID])
    if query.overlay == "run" and not runs:
        return SizeLines([], 0, 0)
    chosen = chosen_lines(replace(query, runs=tuple(runs)), Selection(kind, "", "", metrics, "", []), most=_MOST_SERIES)
    lines = [
        SizeLine(line.pair.environment_id, line.pair.environment, line.pair, line.identity, line.series)
        for line in chosen.lines
    ]
    if query.overlay == "pair":
        drawn = sorted({line.pair.pk for line in chosen.lines})[:MOST_OVERLAID]
        lines = [line for line in lines if line.pair and line.pair.pk in drawn]
    # Of a few runs all can be read.
    lines = lines if runs else lines[:most]
    return SizeLines(lines, chosen.total, len(lines), runs=runs, are_more_runs=len(found_runs) > len(runs))


def _runs(query: HistoryQuery, kind: Kind) -> dict[int, int]:
    """Return the requested runs, else the latest that match, each with its pair; one query.

    One more than are drawn tells that there are others.
    """
    if query.runs:
        requested = Run.objects.filter(pk__in=query.runs[: MOST_OVERLAID + 1])
        return dict(requested.order_by("-pk").values_list("pk", "pair_id"))
    values: dict[str, Any] = {
        "kind": kind.name,
        "main": kind.swept_metrics[0],
        "most": MOST_OVERLAID + 1,
        "plan": query.plan,
    }
    values |= {"first": query.span[0], "last": query.span[1]}
    only = "".join(f" AND {each}" for each in conditions(query, kind, values))
    statement = _RUNS.format(only=only, of_plan=_OF_PLAN if query.plan is not None else "")
    return {run.pk: run.pair_id for run in fetch(_RunOfPair, statement, values)}


def _most_series(query: HistoryQuery, metrics: int) -> int:
    """Return of how many series each run is read: most tests run once a night."""
    nights = max(1, (query.span[1] - query.span[0]) // _DAY)
    return max(_LEAST_SERIES, min(_MOST_SERIES, _MOST_FIGURES // (metrics * nights)))


def _may_be_by_night(query: HistoryQuery) -> bool:
    is_of_some = bool(query.host or query.pair or query.plan or query.series or query.text)
    is_long = query.span[1] - query.span[0] >= 2 * _DAY
    return query.overlay in {"environment", "date"} and is_long and not is_of_some


def _nights(query: HistoryQuery, kind: Kind) -> SizeLines:
    values: dict[str, Any] = {"kind": kind.name, "metrics": kind.swept_metrics}
    only = parameter_conditions(query, kind, values)
    if query.environment is not None:
        values["environment"] = query.environment
        only.append("s.environment_id = %(environment)s")
    statement = _NIGHTS.format(only="".join(f" AND {each}" for each in only))
    main = kind.swept_metrics[0]
    nights = fetch(_Nights, statement, values)
    ids: dict[tuple[int, str], dict[str, int]] = {}
    rows = {(row.environment_id, row.digest): row for row in nights}
    # Of each environment: those that are not drawn are told as series that are left out.
    series = Counter[int]()
    for row in nights:
        ids.setdefault((row.environment_id, row.digest), {})[row.metric] = row.pk
        series[row.environment_id] += row.most_pairs if row.metric == main else 0
    lines = [SizeLine(row.environment_id, row.environment, None, row.identity, ids[key]) for key, row in rows.items()]
    if query.overlay == "environment":
        drawn = sorted({line.environment_id for line in lines})[:MOST_OVERLAID]
        lines = [line for line in lines if line.environment_id in drawn]
    drawn_series = sum(series[environment] for environment in {line.environment_id for line in lines})
    return SizeLines(lines, series.total(), drawn_series, is_by_night=True)
