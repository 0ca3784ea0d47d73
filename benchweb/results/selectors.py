"""Read what trials gave, and series of points."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from benchweb.catalog.reasons import ReasonOf
from benchweb.common.rows import fetch
from benchweb.hosts.models import Facts, Host
from benchweb.results.models import IntervalPart, Point, Result, Series
from benchweb.runs.models import State, Trial


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class TrialRow:
    """A trial with what it gave; metrics are empty until there is a result."""

    id: int
    index: int
    kind: str
    params: dict[str, Any]
    repetition: int
    state: str
    reason: str
    reason_data: dict[str, Any] | None
    started_at: datetime | None
    finished_at: datetime | None
    metrics: dict[str, float]
    flags: list[str]
    limits: list[dict[str, str]]
    has_result: bool
    why = ReasonOf("reason")

    @property
    def measured(self) -> bool:
        """Tell whether the trial's metrics count: a partial result is shown, but joins no median."""
        return self.has_result and self.state == State.FINISHED


# So many rows take a few megabytes.
TRIALS_AT_ONCE = 500
_COLUMNS = (
    *("id", "index", "kind", "params", "repetition", "state", "reason", "reason_data"),
    *("started_at", "finished_at"),
)
_OF_RESULT = {name: F(f"result__{name}") for name in ("metrics", "flags", "limits")} | {"has_result": F("result__id")}
# Written by hand: to build it from models takes as long as to run it.
_TRIALS = """
SELECT t.run_id, t.id, t.index, t.kind, t.params, t.repetition, t.state, t.reason, t.reason_data,
  t.started_at, t.finished_at,
  r.id AS has_result, r.metrics, r.flags, r.limits
FROM runs_trial t LEFT JOIN results_result r ON r.trial_id = t.id
WHERE t.run_id = ANY(%(runs)s)
ORDER BY t.run_id, t.index
"""


def trial_rows(run_id: int) -> list[TrialRow]:
    """Return a run's trials in order, with metrics and flags but without documents; one query."""
    return trial_rows_of_runs([run_id])[run_id]


def trial_rows_of_runs(run_ids: Sequence[int]) -> dict[int, list[TrialRow]]:
    """Return the trials of each of several runs as `trial_rows` does; one query."""
    rows_of_runs: dict[int, list[TrialRow]] = {run_id: [] for run_id in run_ids}
    rows: list[dict[str, Any]] = fetch(dict, _TRIALS, {"runs": list(run_ids)})
    for columns in rows:
        rows_of_runs[columns.pop("run_id")].append(trial_row(**columns))
    return rows_of_runs


def trial_parts(run_id: int, size: int = TRIALS_AT_ONCE) -> Iterator[list[TrialRow]]:
    """Return a run's trials in order as `trial_rows` does, some at a time; one query for each part, none held open."""
    rows = Trial.objects.filter(run=run_id).order_by("index").values(*_COLUMNS, **_OF_RESULT)
    after = 0
    while True:
        part = [trial_row(**columns) for columns in rows.filter(index__gt=after)[:size]]
        yield part
        if len(part) < size:
            return
        after = part[-1].index


def trial_row(*, metrics: Any, flags: Any, limits: Any, has_result: int | None, **columns: Any) -> TrialRow:
    """Return the row of a trial's columns; those of its result, and its id as `has_result`, are None without one."""
    figures: dict[str, Any] = {"metrics": metrics or {}, "flags": flags or [], "limits": limits or []}
    return TrialRow(**columns, **figures, has_result=has_result is not None)


# The last results that came with facts, one a run; the documents of those alone.
_FACTS = """
SELECT DISTINCT ON (t.run_id) t.run_id, coalesce(source.document, '{}') AS source, coalesce(sink.document, '{}') AS sink
FROM runs_trial t
JOIN results_result r ON r.trial_id = t.id
LEFT JOIN hosts_facts source ON source.id = r.source_facts_id
LEFT JOIN hosts_facts sink ON sink.id = r.sink_facts_id
WHERE t.run_id = ANY(%(runs)s) AND (r.source_facts_id IS NOT NULL OR r.sink_facts_id IS NOT NULL)
ORDER BY t.run_id, r.sink_facts_id IS NULL, r.id DESC
"""


def facts_of_runs(run_ids: Sequence[int]) -> dict[int, tuple[dict[str, Any], dict[str, Any]]]:
    """Return source's and sink's facts of each run, as they came with its last result; {} if unknown. One query.

    A run whose results came without facts is left out.
    """
    return {row.run_id: (row.source, row.sink) for row in fetch(_RunFacts, _FACTS, {"runs": list(run_ids)})}


class _RunFacts(NamedTuple):
    """The facts of both ends that came with a run's last result."""

    run_id: int
    source: dict[str, Any]
    sink: dict[str, Any]


def results_of_trials(trial_ids: Sequence[int]) -> dict[int, Result]:
    """Return the results of some trials by their trials' ids, with whole documents, without facts; one query."""
    return {result.trial_id: result for result in Result.objects.filter(trial__in=trial_ids)}


def interval_parts(trial_id: int) -> Iterator[list[dict[str, Any]]]:
    """Return a trial's intervals in order, some at a time; a query for each part of a long test, none held open."""
    result = Result.objects.filter(trial=trial_id).values_list("interval_count", flat=True).first()
    if result is None:
        yield from _intervals_of_document(trial_id)
        return
    parts = IntervalPart.objects.filter(trial=trial_id).order_by("number").values_list("intervals", flat=True)
    for number in range(parts.count()):
        yield from parts.filter(number=number)


def _intervals_of_document(trial_id: int) -> Iterator[list[dict[str, Any]]]:
    for intervals in Result.objects.filter(trial=trial_id).values_list("document__intervals", flat=True):
        yield intervals or []


def facts_documents(ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return facts by their ids; one query."""
    return dict(Facts.objects.filter(pk__in=ids).order_by("pk").values_list("pk", "document"))


def hosts_with_results(host_ids: Collection[int]) -> set[int]:
    """Return which of these hosts are an end of a pair that has a series; one query."""
    series = [Series.objects.filter((f"pair__{end}__host", OuterRef("pk"))) for end in ("source", "sink")]
    hosts = Host.objects.filter(Exists(series[0]) | Exists(series[1]), pk__in=host_ids)
    return set(hosts.values_list("pk", flat=True))


def series_list(*, pair: int | None = None, kind: str = "", metric: str = "") -> "QuerySet[Series, Series]":
    """Return the series that match; the caller orders and slices."""
    wanted = {"pair": pair, "kind": kind or None, "metric": metric or None}
    return Series.objects.filter(**{field: value for field, value in wanted.items() if value is not None})


POINTS_AT_ONCE = 5_000


@dataclass(frozen=True)
class PointRow:
    """One trial's value in a series."""

    at: datetime
    value: float
    run: int
    trial: int


def points(
    *,
    series_id: int,
    from_time: datetime | None = None,
    to_time: datetime | None = None,
    plan: int | None = None,
    after: tuple[datetime, int] | None = None,
    limit: int | None = None,
) -> list[PointRow]:
    """Return a series' points by time, both ends included, of all or a plan's; an index-only scan of point_by_series.

    `after` is the time and the trial of a point: only later ones are given, and at most `limit`.
    """
    rows = Point.objects.filter(series=series_id)
    if after is not None:
        at, trial = after
        rows = rows.filter(Q(at__gt=at) | Q(trial__gt=trial), at__gte=at)
    if from_time is not None:
        rows = rows.filter(at__gte=from_time)
    if to_time is not None:
        rows = rows.filter(at__lte=to_time)
    if plan is not None:
        rows = rows.filter(run__plan_version__plan=plan)
    columns = rows.order_by("at", F("trial_id")).values_list("at", "value", "run_id", "trial_id", named=True)
    return [PointRow(row.at, row.value, row.run_id, row.trial_id) for row in columns[:limit]]


def point_parts(
    *,
    series_id: int,
    from_time: datetime | None = None,
    to_time: datetime | None = None,
    plan: int | None = None,
    size: int = POINTS_AT_ONCE,
) -> Iterator[list[PointRow]]:
    """Return a series' points as `points` does, some at a time; one query for each part, none held open."""
    after: tuple[datetime, int] | None = None
    while True:
        part = points(series_id=series_id, from_time=from_time, to_time=to_time, plan=plan, after=after, limit=size)
        if part:
            yield part
        if len(part) < size:
            return
        after = part[-1].at, part[-1].trial
