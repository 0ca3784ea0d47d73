"""What pairs gave last in one test: a few queries whatever the number of pairs, each by index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.catalog.reasons import reason_of
from benchweb.common.rows import fetch
from benchweb.plans.models import PlanVersion
from benchweb.results.models import Point, Series
from benchweb.runs.models import OPEN_STATES

# Enough to tell a kind's tests apart; the whole digest would make a link of a line.
_DIGEST_DIGITS = 12
# Runs that a sparkline tells of.
HISTORY_RUNS = 8
# Eight runs of five repetitions; of plans that repeat more often, fewer runs.
_POINTS = 40
# Plan versions whose steps are kept: they never change.
_MOST_VERSIONS = 2_000
_steps_of_version: dict[int, list[dict[str, Any]]] = {}

# Endpoints that tell which environments have network modes of their own; more would tell the same.
_ENDPOINTS_READ = 200
_LATELY = timedelta(days=7)

_ENVIRONMENTS = """
SELECT id AS pk, name,
  id IN (SELECT pair.environment_id FROM hosts_pair pair WHERE pair.archived_at IS NULL AND pair.source_id IN (
    SELECT id FROM hosts_endpoint WHERE archived_at IS NULL AND network_mode <> 'host' LIMIT %(endpoints)s
  )) AS has_modes,
  coalesce(id = (SELECT pair.environment_id FROM runs_run run JOIN hosts_pair pair ON pair.id = run.pair_id
    ORDER BY run.id DESC LIMIT 1), false) AS is_latest,
  coalesce((SELECT max(night.most_pairs) FROM results_environmentnights night
    WHERE night.environment_id = hosts_environment.id AND night.night >= %(since)s), 0) AS pairs_lately,
  is_synthetic,
  EXISTS (SELECT FROM results_environmentnights night
    WHERE night.environment_id = hosts_environment.id AND night.night IS NOT NULL) AS has_results
FROM hosts_environment WHERE archived_at IS NULL ORDER BY name, id
"""
_TESTS = """
SELECT kind, identity_digest AS digest, identity, count(*) AS pairs FROM results_series
WHERE pair_id = ANY(%(pairs)s::bigint[]) AND metric = ANY(%(metrics)s) AND kind || '.' || metric = ANY(%(headlines)s)
GROUP BY kind, identity_digest, identity
"""
_NEWEST = """
SELECT series.pair_id AS pair, series.id AS series, newest.at, newest.runs, newest.values
FROM results_series series CROSS JOIN LATERAL (
  SELECT max(at) AS at, array_agg(run_id) AS runs, array_agg(value) AS values
  FROM (SELECT run_id, at, value FROM results_point
        WHERE series_id = series.id {over} {until}
        ORDER BY at DESC LIMIT %(points)s) AS point
) AS newest
WHERE series.pair_id = ANY(%(pairs)s::bigint[]) AND series.kind = %(kind)s AND series.metric = %(metric)s
  AND series.identity_digest = %(digest)s AND newest.at IS NOT NULL
"""

# What a run that isn't over has given so far is no result of it yet.
_OVER = "AND run_id <> ALL (ARRAY(SELECT id FROM runs_run WHERE state = 'running'))"

_ENDS = """
SELECT pair.id AS pair, run.ids, run.states, run.versions, run.reason, run.reason_data
FROM unnest(%(pairs)s::bigint[]) AS pair (id) CROSS JOIN LATERAL (
  SELECT array_agg(id) AS ids, array_agg(state) AS states, array_agg(plan_version_id) AS versions,
         (array_agg(reason))[1] AS reason, (array_agg(reason_data))[1] AS reason_data
  FROM (SELECT id, state, plan_version_id, reason, reason_data FROM runs_run
        WHERE pair_id = pair.id AND state <> ALL(%(open)s) {until}
        ORDER BY id DESC LIMIT %(runs)s) AS run
) AS run
WHERE run.ids IS NOT NULL
"""

_LAST = """
SELECT pair.source_id AS source, pair.sink_id AS sink, point.value
FROM hosts_pair pair JOIN results_series series ON series.pair_id = pair.id
CROSS JOIN LATERAL (
  SELECT value FROM results_point WHERE series_id = series.id
    {over} {until} ORDER BY at DESC LIMIT 1
) AS point
WHERE pair.environment_id = %(environment)s AND pair.archived_at IS NULL
  AND series.kind = %(kind)s AND series.metric = %(metric)s AND series.identity_digest = %(digest)s
"""


@dataclass(frozen=True)
class SeriesTest:
    """A kind with its identity parameters: what one series has in common over all pairs and metrics."""

    kind: str
    digest: str
    identity: dict[str, Any]
    # How many of the pairs asked about have it.
    pairs: int = 0

    @property
    def key(self) -> str:
        """Name the test in a URL, for good: by its kind and its identity parameters' digest."""
        return f"{self.kind}.{self.digest[:_DIGEST_DIGITS]}"


class MatrixEnvironment(NamedTuple):
    """An environment in use: whether a pair starts anywhere but at a host itself, whether the newest run was here,
    how many pairs a night of the last week measured in one test, and whether anything was ever summed up here."""

    pk: int
    name: str
    has_modes: bool
    is_latest: bool
    pairs_lately: int
    is_synthetic: bool
    has_results: bool


# Frozen dataclasses would take three times as long to make, and a matrix has a thousand.
class RunValues(NamedTuple):
    """The values that one run gave to a series, newest first."""

    run: int
    values: list[float]


class Newest(NamedTuple):
    """A pair's newest runs with a result in a series, newest first; `at` is the newest value's time."""

    at: datetime
    runs: list[RunValues]


class LastValue(NamedTuple):
    """What a pair, named by its endpoints, gave last."""

    source: int
    sink: int
    value: float


class _NewestPoints(NamedTuple):
    """A pair's newest points, newest first: the run and the value of each."""

    pair: int
    series: int
    at: datetime
    runs: list[int]
    values: list[float]


class _EndedRuns(NamedTuple):
    """A pair's newest final runs, newest first; the reason is the newest one's."""

    pair: int
    ids: list[int]
    states: list[str]
    versions: list[int]
    reason: str
    reason_data: dict[str, Any] | None


class EndedRun(NamedTuple):
    """A run that is final."""

    id: int
    state: str
    reason: str


def matrix_environments() -> list[MatrixEnvironment]:
    """Return the environments in use, by name; one query."""
    values = {"endpoints": _ENDPOINTS_READ, "since": timezone.now().date() - _LATELY}
    return fetch(MatrixEnvironment, _ENVIRONMENTS, values)


def measured_tests(pairs: Iterable[int]) -> list[SeriesTest]:
    """Return the tests that any of these pairs has a series of, in the catalog's order; one query."""
    kinds = catalog().kinds
    headlines = [f"{kind.name}.{kind.headline}" for kind in kinds.values()]
    metrics = [kind.headline for kind in kinds.values()]
    tests = fetch(SeriesTest, _TESTS, {"pairs": list(pairs), "metrics": metrics, "headlines": headlines})
    order = {name: index for index, name in enumerate(kinds)}
    return sorted(tests, key=lambda test: (order[test.kind], _by_size(test.identity)))


def metrics_of_test(pairs: Iterable[int], test: SeriesTest) -> list[str]:
    """Return the metrics that any of these pairs has of a test, in the catalog's order; one query."""
    series = Series.objects.filter(pair__in=list(pairs), kind=test.kind, identity_digest=test.digest)
    measured = set(series.values_list("metric", flat=True).distinct())
    return [key for key in catalog().kinds[test.kind].metrics if key in measured]


def newest_values(
    *, pairs: Sequence[int], test: SeriesTest, metric: str, until: datetime | None = None
) -> dict[int, Newest]:
    """Return each pair's newest runs that are over in a series, by its id, where it has a value; one query.

    A run of more repetitions than are read here costs its pair one query more.
    """
    parameters: dict[str, Any] = {
        "pairs": list(pairs),
        "kind": test.kind,
        "metric": metric,
        "digest": test.digest,
        "until": until,
        "points": _POINTS,
    }
    rows = fetch(_NewestPoints, _NEWEST.format(over=_OVER, until=_upto("at", until)), parameters)
    return {row.pair: Newest(row.at, _by_run(row.series, row.runs, row.values)) for row in rows}


def last_values(*, environment: int, test: SeriesTest, metric: str, until: datetime | None = None) -> list[LastValue]:
    """Return the last value of every pair of an environment; one query.

    The last repetition alone, of a run that is over, for a picture of tens of thousands of pairs: an index's last
    entry each.
    """
    parameters: dict[str, Any] = {
        "environment": environment,
        "kind": test.kind,
        "metric": metric,
        "digest": test.digest,
        "until": until,
    }
    return fetch(LastValue, _LAST.format(over=_OVER, until=_upto("at", until)), parameters)


def ended_runs(*, pairs: Sequence[int], test: SeriesTest, until: datetime | None = None) -> dict[int, list[EndedRun]]:
    """Return each pair's newest final runs of plans with this test, newest first; two queries.

    Of older runs than the newest the reason is left out.
    """
    parameters: dict[str, Any] = {
        "pairs": list(pairs),
        "open": [state.value for state in OPEN_STATES],
        "until": until,
        "runs": HISTORY_RUNS,
    }
    rows = fetch(_EndedRuns, _ENDS.format(until=_upto("finished_at", until)), parameters)
    tested = _versions_with(test, {version for row in rows for version in row.versions})
    return {row.pair: _ended(row, tested) for row in rows}


def _upto(column: str, until: datetime | None) -> str:
    """Return the condition, written only where it is asked for: of one that may be empty a plan expects few rows."""
    return "" if until is None else f"AND {column} <= %(until)s"


def _by_size(identity: dict[str, Any]) -> list[tuple[str, float, str]]:
    return [
        (name, value if isinstance(value, int | float) else 0.0, str(value)) for name, value in sorted(identity.items())
    ]


def _by_run(series: int, runs: list[int], values: list[float]) -> list[RunValues]:
    grouped: dict[int, list[float]] = {}
    # A run's values lie together, but for a few: where another run begins, what was passed is taken in one piece.
    first = 0
    for index, run in enumerate([*runs[1:], None], 1):
        if run != runs[first]:
            grouped.setdefault(runs[first], []).extend(values[first:index])
            first = index
    if len(values) == _POINTS and len(grouped) > 1:
        # What was read of the oldest run may not be all of it.
        grouped.popitem()
    elif len(values) == _POINTS:
        whole = Point.objects.filter(series=series, run=runs[0]).order_by("-at")
        grouped[runs[0]] = list(whole.values_list("value", flat=True))
    return [RunValues(run, values) for run, values in grouped.items()][:HISTORY_RUNS]


def _ended(ended: _EndedRuns, tested: set[int]) -> list[EndedRun]:
    reason = reason_of(ended.reason, ended.reason_data)
    rows = enumerate(zip(ended.ids, ended.states, ended.versions, strict=True))
    return [
        EndedRun(run, state, reason if index == 0 else "") for index, (run, state, version) in rows if version in tested
    ]


def _versions_with(test: SeriesTest, versions: set[int]) -> set[int]:
    """Keep the plan versions that have a test."""
    if len(_steps_of_version) > _MOST_VERSIONS:
        _steps_of_version.clear()
    if unknown := versions - _steps_of_version.keys():
        _steps_of_version.update(PlanVersion.objects.filter(pk__in=unknown).values_list("pk", "steps"))
    return {version for version in versions if any(_is_step_of(step, test) for step in _steps_of_version[version])}


def _is_step_of(step: dict[str, Any], test: SeriesTest) -> bool:
    """Tell whether a step, swept or not, makes trials whose results join a test's series."""
    kind = catalog().kinds[test.kind]
    if step["kind"] != kind.name:
        return False
    given = {name: value if isinstance(value, list) else [value] for name, value in step["params"].items()}
    return all(
        any(kind.identity({name: value}) == _wanted(test, name) for value in given.get(name, [parameter.default]))
        for name, parameter in kind.parameters.items()
        if parameter.identity
    )


def _wanted(test: SeriesTest, name: str) -> dict[str, Any]:
    return {name: test.identity[name]} if name in test.identity else {}
