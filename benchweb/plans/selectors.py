"""Read plans with their latest version for lists and pages."""

from collections.abc import Iterable

from django.db.models import BooleanField, F, Func, Q, QuerySet, Value

from benchweb.catalog import catalog
from benchweb.common.names import searched
from benchweb.labels import with_label
from benchweb.plans.models import Plan, PlanVersion


def plans_matching(*, text: str = "", label: str = "", archived: bool = False) -> QuerySet[Plan]:
    """Return plans by part of their name or by label; none that was made for a single launch."""
    plans = Plan.objects.filter(archived_at__isnull=not archived, is_one_off=False)
    if label:
        plans = with_label(plans, label)
    if text := searched(text):
        plans = plans.filter(Q(name__icontains=text) | Q(labels__contains=[text]))
    return plans


def plan_choices(chosen: int | None = None) -> "QuerySet[Plan, tuple[int, str]]":
    """Return ids and names of the plans in use, by name, for a filter; with the chosen one, whatever it is."""
    plans = Plan.objects.filter(Q(archived_at=None, is_one_off=False) | Q(pk=chosen))
    return plans.order_by("name", "pk").values_list("pk", "name")


def versions_of_size(size_bytes: int) -> QuerySet[PlanVersion]:
    """Return the versions that test a message size, named or by default."""
    tests = []
    for kind in catalog().tests.values():
        if name := kind.swept_size:
            named = f'@.kind == "{kind.name}" && @.params.{name} == {size_bytes}'
            by_default = f'@.kind == "{kind.name}" && !exists(@.params.{name})'
            tests += [named, by_default] if kind.parameters[name].default == size_bytes else [named]
    path = f"$[*] ? ({' || '.join(f'({test})' for test in tests)})"
    has_size = Func(
        F("steps"),
        Value(path),
        function="jsonb_path_exists",
        template="%(function)s(%(expressions)s::jsonpath)",
        output_field=BooleanField(),
    )
    return PlanVersion.objects.filter(has_size)


def latest_versions(*, plans: Iterable[Plan]) -> dict[int, PlanVersion]:
    """Return each plan's latest version by plan id; one query."""
    rows = PlanVersion.objects.filter(plan__in=[plan.pk for plan in plans])
    return {version.plan_id: version for version in rows.order_by("plan_id", "-number").distinct("plan_id")}
