"""Create plans and their versions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.names import name_fault, stored_name
from benchweb.plans.confidence import validated_confidence
from benchweb.plans.expansion import PlanError, validated_steps
from benchweb.plans.models import Plan, PlanVersion

MAXIMUM_PAUSE_SECONDS = 3600.0


@transaction.atomic
def plan_create(
    *,
    name: str,
    steps: Sequence[Mapping[str, Any]],
    repetitions: int,
    order: str,
    pause_seconds: float = 0,
    confidence: Mapping[str, Any] | None = None,
) -> Plan:
    """Create a plan with its version 1; raise PlanError, with nothing written, for the first fault."""
    fields = _checked(
        name=name,
        steps=steps,
        repetitions=repetitions,
        order=order,
        pause_seconds=pause_seconds,
        confidence=confidence,
    )
    plan = Plan.objects.create(name=stored_name(name))
    PlanVersion.objects.create(plan=plan, number=1, **fields)
    return plan


@transaction.atomic
def plan_update(
    *,
    plan: Plan,
    name: str,
    steps: Sequence[Mapping[str, Any]],
    repetitions: int,
    order: str,
    pause_seconds: float = 0,
    confidence: Mapping[str, Any] | None = None,
) -> PlanVersion:
    """Rename, and make a new version if what is tested changed; runs keep the version they were launched with."""
    fields = _checked(
        name=name,
        steps=steps,
        repetitions=repetitions,
        order=order,
        pause_seconds=pause_seconds,
        confidence=confidence,
    )
    Plan.objects.filter(pk=plan.pk).update(name=stored_name(name))
    latest = plan.versions.order_by("-number")[0]
    if all(getattr(latest, field) == value for field, value in fields.items()):
        return latest
    number = plan.versions.aggregate(last=Max("number"))["last"] + 1
    try:
        with transaction.atomic():
            return PlanVersion.objects.create(plan=plan, number=number, **fields)
    except IntegrityError as error:
        raise PlanError("", _("Somebody else saved this plan at the same moment: reload it and try again.")) from error


def plan_archive(*, plan: Plan) -> bool:
    """Hide a plan from lists and launching; its runs stay. False when it was archived already."""
    return bool(Plan.objects.filter(pk=plan.pk, archived_at=None).update(archived_at=timezone.now()))


def plan_restore(*, plan: Plan) -> bool:
    """Bring an archived plan back; False when it wasn't archived."""
    return bool(Plan.objects.filter(pk=plan.pk).exclude(archived_at=None).update(archived_at=None))


def _checked(
    *,
    name: str,
    steps: Sequence[Mapping[str, Any]],
    repetitions: int,
    order: str,
    pause_seconds: float,
    confidence: Mapping[str, Any] | None,
) -> dict[str, Any]:
    if fault := name_fault(name):
        raise PlanError("name", fault)
    if order not in PlanVersion.Order.values:
        raise PlanError(
            "order",
            _("order is {order}, but must be one of {values}.").format(
                order=f"{order!r}", values=", ".join(PlanVersion.Order.values)
            ),
        )
    if not 0 <= pause_seconds <= MAXIMUM_PAUSE_SECONDS:
        raise PlanError(
            "pause_seconds",
            _("pause_seconds must be from 0 to {maximum_pause_seconds} s.").format(
                maximum_pause_seconds=f"{MAXIMUM_PAUSE_SECONDS:g}"
            ),
        )
    requested = validated_confidence(confidence, repetitions)
    return {
        "steps": validated_steps(steps, repetitions, requested["max_repetitions"] if requested else None),
        "confidence": requested,
        "repetitions": repetitions,
        "order": order,
        "pause_seconds": pause_seconds,
    }
