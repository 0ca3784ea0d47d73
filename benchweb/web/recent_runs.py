"""The last few runs of something, for the foot of its page."""

from django.db.models import QuerySet

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs.models import Run

RECENT_RUNS = 10


def recent_runs(*, pairs: "QuerySet[Pair] | None" = None, plan: Plan | None = None) -> list[Run]:
    """Give the latest runs on these pairs or of this plan, newest first; one query."""
    runs = Run.objects.select_related("plan_version__plan", "pair__source__host", "pair__sink__host")
    if pairs is not None:
        runs = runs.filter(pair__in=pairs)
    if plan is not None:
        runs = runs.filter(plan_version__plan=plan)
    return list(runs.order_by("-pk")[:RECENT_RUNS])
