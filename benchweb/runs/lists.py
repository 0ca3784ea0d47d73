"""Runs as lists show them: named, with when and how they went, without a model for each of their rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, F, Func, Lookup, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.db.models.sql.compiler import SQLCompiler

from benchweb.catalog.reasons import ReasonOf
from benchweb.hosts.models import Pair
from benchweb.hosts.pairs import PairNames
from benchweb.plans.models import PlanVersion, version_label
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, Run

_OF_RUN = (
    *("pk", "labels", "state", "reason", "reason_data", "waiting_for", "waiting_for_data", "attempts", "not_before"),
    *("created_at", "started_at", "finished_at", "pair_id"),
)
_OF_OTHER_ROWS = {
    "plan_id": F("plan_version__plan_id"),
    "plan": F("plan_version__plan__name"),
    "version": F("plan_version__number"),
    "environment": F("pair__environment__name"),
    "is_synthetic": F("pair__environment__is_synthetic"),
    "source_host_id": F("pair__source__host_id"),
    "source_host": F("pair__source__host__name"),
    "source_endpoint": F("pair__source__name"),
    "source_mode": F("pair__source__network_mode"),
    "sink_host_id": F("pair__sink__host_id"),
    "sink_host": F("pair__sink__host__name"),
    "sink_endpoint": F("pair__sink__name"),
    "sink_mode": F("pair__sink__network_mode"),
}


@dataclass(frozen=True, kw_only=True)
class RunLine(PairNames):
    """A run as a line of a list."""

    pk: int
    labels: list[str]
    state: str
    reason: str
    reason_data: dict[str, Any] | None
    waiting_for: str
    waiting_for_data: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    attempts: int
    not_before: datetime | None
    pair_id: int
    source_host_id: int
    sink_host_id: int
    plan_id: int
    plan: str
    version: int
    environment: str
    # Of a sample: nobody measured it.
    is_synthetic: bool
    why = ReasonOf("reason")
    waits_for = ReasonOf("waiting_for")

    @property
    def plan_version(self) -> str:
        return version_label(self.plan, self.version)


def run_lines(runs: "QuerySet[Run, Any]") -> list[RunLine]:
    """Return the lines of runs in their order; one query."""
    return [RunLine(**row) for row in runs.values(*_OF_RUN, **_OF_OTHER_ROWS)]


def listed_runs(ids: Sequence[int]) -> list[RunLine]:
    """Return the lines of these runs, in this order; one query."""
    if not ids:
        return []
    lines = {line.pk: line for line in run_lines(Run.objects.filter(pk__in=ids).order_by())}
    return [lines[pk] for pk in ids if pk in lines]


@dataclass(frozen=True)
class RecentRuns:
    """Runs that are open, the latest of those that ended, and those without a whole result; each the newest first."""

    opened: list[RunLine]
    ended: list[RunLine]
    faulty: list[RunLine]


def recent_runs(
    *, most_open: int = 0, most_ended: int = 0, most_faulty: int = 0, since: datetime | None = None
) -> RecentRuns:
    """Return some of the runs of each sort, the faulty ones of those that ended since then; one query."""
    # Running before pending, and who came first before who came later: of a campaign of hundreds the ones that wait
    # must not hide the ones that run, or those that are next.
    opened = Run.objects.filter(state__in=OPEN_STATES).order_by("-state", "pk").values("pk")[:most_open]
    ended = Run.objects.exclude(state__in=OPEN_STATES).order_by("-pk").values("pk")[:most_ended]
    faulty = _faulty(since).order_by("-finished_at").values("pk")[:most_faulty]
    lines = run_lines(_among(opened.union(ended, faulty)))
    over = [line for line in lines if line.state not in OPEN_STATES]
    failed = [line for line in over if since and _is_faulty_since(line, since)][:most_faulty]
    return RecentRuns([line for line in lines if line.state in OPEN_STATES], over[:most_ended], failed)


def _faulty(since: datetime | None) -> "QuerySet[Run, Run]":
    """Return the runs without a whole result of the time since then, as they are counted; none of a sample."""
    is_of = Q(finished_at__gte=since, of__gte=since, state__in=FAULTY_STATES) if since else Q(pk=None)
    measured = Run.objects.filter(pair__environment__is_synthetic=False)
    return measured.alias(of=Coalesce("started_at", "finished_at")).filter(is_of)


def _is_faulty_since(line: RunLine, since: datetime) -> bool:
    """Tell of a run that ended what `_faulty` asks."""
    of = line.started_at or line.finished_at
    return (
        line.state in FAULTY_STATES
        and not line.is_synthetic
        and of is not None
        and line.finished_at is not None
        and min(of, line.finished_at) >= since
    )


def latest_of_pairs(pairs: "QuerySet[Pair]", *, most: int) -> list[RunLine]:
    """Return the latest runs on some pairs, the newest first."""
    return run_lines(_among(_latest(pairs, "pair", most)))


def latest_of_plan(plan_id: int, *, most: int) -> list[RunLine]:
    """Return the latest runs of a plan's versions, the newest first."""
    latest = Run.objects.filter(plan_version__plan=plan_id).order_by("-pk")
    return run_lines(_among(latest.values("pk")[:most]))


def searched_runs(numbers: Sequence[int], pairs: Sequence[int], versions: Sequence[int], *, most: int) -> list[RunLine]:
    """Return the runs of these numbers, and the latest on some pairs and of some plan versions, the newest first."""
    numbered = Run.objects.filter(pk__in=numbers).order_by().values("pk")
    on_pairs = _latest(Pair.objects.filter(pk__in=pairs), "pair", most)
    of_versions = _latest(PlanVersion.objects.filter(pk__in=versions), "plan_version", most)
    return run_lines(_among(numbered.union(on_pairs, of_versions)))


def _latest(rows: "QuerySet[Any]", field: str, most: int) -> "QuerySet[Any, Any]":
    """Return the ids of the latest runs of some rows, by each row's own latest.

    Among all runs those of a quiet pair would be searched for a long time.
    """
    latest = Run.objects.filter(**{field: OuterRef("pk")}).order_by("-pk").values("pk")[:most]
    run = Func(ArraySubquery(latest), function="unnest", output_field=BigIntegerField())
    return rows.values(run=run).order_by("-run")[:most]


def _among(ids: "QuerySet[Any, Any]") -> "QuerySet[Run, Run]":
    return Run.objects.filter(_AnyOf(F("pk"), ArraySubquery(ids)))


class _AnyOf(Lookup):
    """`id = ANY(ARRAY(…))`: the ids are read before the rest, where IN might join all runs first."""

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        """Return the condition and its values."""
        column, column_values = self.process_lhs(compiler, connection)
        ids, ids_values = self.process_rhs(compiler, connection)
        return f"{column} = ANY({ids})", (*column_values, *ids_values)
