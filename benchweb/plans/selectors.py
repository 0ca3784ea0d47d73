"""Read plans with their latest version for lists and pages."""

from collections.abc import Iterable

from django.db.models import QuerySet

from benchweb.common.names import searched
from benchweb.plans.models import Plan, PlanVersion


def plans_matching(*, text: str = "", archived: bool = False) -> QuerySet[Plan]:
    """Return plans by part of their name."""
    plans = Plan.objects.filter(archived_at__isnull=not archived)
    return plans.filter(name__icontains=searched(text)) if text else plans


def latest_versions(*, plans: Iterable[Plan]) -> dict[int, PlanVersion]:
    """Return each plan's latest version by plan id; one query."""
    rows = PlanVersion.objects.filter(plan__in=[plan.pk for plan in plans])
    return {version.plan_id: version for version in rows.order_by("plan_id", "-number").distinct("plan_id")}
