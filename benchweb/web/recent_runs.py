"""The last few runs of something, for the foot of its page."""

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Func, OuterRef, QuerySet

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs.lookups import IsAmong
from benchweb.runs.models import Run
from benchweb.runs.selectors import run_lines

RECENT_RUNS = 10


def recent_runs(*, pairs: "QuerySet[Pair] | None" = None, plan: Plan | None = None) -> list[Run]:
    """Give the latest runs on these pairs or of this plan, newest first; one query."""
    runs = run_lines()
    if pairs is not None:
        runs = runs.filter(IsAmong(latest_runs_on(pairs, RECENT_RUNS)))
    if plan is not None:
        runs = runs.filter(plan_version__plan=plan)
    return list(runs.order_by("-pk")[:RECENT_RUNS])


def latest_runs_on(pairs: "QuerySet[Pair]", most: int) -> "QuerySet[Pair, int]":
    """Give the ids of the latest runs on these pairs, the newest first.

    By each pair's own latest: among all runs those of a quiet pair would be searched for a long time.
    """
    latest = Run.objects.filter(pair=OuterRef("pk")).order_by("-pk").values("pk")[:most]
    each = pairs.order_by().annotate(latest=ArraySubquery(latest)).annotate(run=Func(F("latest"), function="unnest"))
    return each.order_by("-run").values_list("run", flat=True)[:most]
