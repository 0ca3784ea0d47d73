"""Create plans and their versions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.names import name_fault, stored_name
from benchweb.labels import labels_fault, stored_labels
from benchweb.plans.confidence import validated_confidence
from benchweb.plans.expansion import PlanError, validated_steps
from benchweb.plans.main_setting import sizes_to_choose
from benchweb.plans.models import Plan, PlanVersion

MAXIMUM_PAUSE_SECONDS = 3600.0
_LONGEST_NAME = 100


@transaction.atomic
def plan_create(
    *,
    name: str,
    steps: Sequence[Mapping[str, Any]],
    repetitions: int,
    order: str,
    pause_seconds: float = 0,
    confidence: Mapping[str, Any] | None = None,
    labels: Sequence[str] = (),
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
    plan = Plan.objects.create(name=stored_name(name), labels=_checked_labels(labels))
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
    labels: Sequence[str] | None = None,
) -> PlanVersion:
    """Rename, and make a new version if what is tested changed; runs keep the version they were launched with.

    Without `labels` the plan keeps those that it has.
    """
    fields = _checked(
        name=name,
        steps=steps,
        repetitions=repetitions,
        order=order,
        pause_seconds=pause_seconds,
        confidence=confidence,
    )
    stored = plan.labels if labels is None else _checked_labels(labels)
    Plan.objects.filter(pk=plan.pk).update(name=stored_name(name), labels=stored)
    latest = plan.versions.order_by("-number")[0]
    if _is_same(latest, fields):
        return latest
    if plan.main_size_bytes is not None and plan.main_size_bytes not in sizes_to_choose(steps):
        # What the plan sweeps no more is no size to tell figures at.
        Plan.objects.filter(pk=plan.pk).update(main_size_bytes=None)
    return _next_version(plan, plan.versions.aggregate(last=Max("number"))["last"], fields)


@transaction.atomic
def one_off_version(
    *,
    name: str,
    steps: Sequence[Mapping[str, Any]],
    repetitions: int,
    order: str,
    pause_seconds: float = 0,
    confidence: Mapping[str, Any] | None = None,
    changed_from: PlanVersion | None = None,
) -> PlanVersion:
    """Return a version for a single launch, of a plan that no list has; the same test again is the same version.

    Where nothing is changed from another version, it is that one.
    """
    fields = _checked(
        name=name,
        steps=steps,
        repetitions=repetitions,
        order=order,
        pause_seconds=pause_seconds,
        confidence=confidence,
    )
    if changed_from is not None and _is_same(changed_from, fields):
        return changed_from
    return _one_off(name, fields)


def reported_version(*, name: str, steps: Sequence[Mapping[str, Any]]) -> PlanVersion:
    """Return a version of what another system measured: in no list, of kinds that no engine has, never launched."""
    fields = {"steps": steps, "repetitions": 1, "order": PlanVersion.Order.SEQUENTIAL}
    return _one_off(name, {**fields, "pause_seconds": 0, "confidence": None})


@transaction.atomic
def _one_off(name: str, fields: Mapping[str, Any]) -> PlanVersion:
    same_name = Plan.objects.filter(is_one_off=True, name=stored_name(name), archived_at=None)
    # Locked: what is imported by several at once belongs to one plan.
    plan = same_name.select_for_update().order_by("pk").first()
    plan = plan or Plan.objects.create(is_one_off=True, name=stored_name(name))
    latest = plan.versions.aggregate(last=Max("number"))["last"] or 0
    # What is null in a row is null in JSON too, to a plain comparison.
    same = {f"{name}__isnull" if value is None else name: value is None or value for name, value in fields.items()}
    return plan.versions.filter(**same).first() or _next_version(plan, latest, fields)


def main_size_choose(*, plan: Plan, size_bytes: int | None) -> None:
    """Choose the size of the sweep at which main figures are told, or None for the middle one."""
    steps = plan.versions.order_by("-number")[0].steps
    if size_bytes is not None and size_bytes not in sizes_to_choose(steps):
        raise PlanError("main_size_bytes", _("The plan doesn't sweep over this size: choose one of its sizes."))
    Plan.objects.filter(pk=plan.pk).update(main_size_bytes=size_bytes)


def plan_keep(*, plan: Plan) -> bool:
    """Move a one-off plan to the list of plans; False when it is there already."""
    return bool(Plan.objects.filter(pk=plan.pk, is_one_off=True).update(is_one_off=False))


@transaction.atomic
def version_repeated(*, version: PlanVersion, repetitions: int) -> PlanVersion:
    """Return a version that tests the same with at least so many repetitions, and leave its plan as it is.

    It belongs to an archived plan of its own, so that no schedule takes it; made once.
    """
    if version.repetitions >= repetitions:
        return version
    fields: dict[str, Any] = {
        "steps": version.steps,
        "order": version.order,
        "pause_seconds": version.pause_seconds,
        "confidence": version.confidence,
        "repetitions": repetitions,
    }
    # What would be too long with so many repetitions is refused here.
    ending = f" · n={repetitions}"
    name = version.plan.name[: _LONGEST_NAME - len(ending)] + ending
    checked = _checked(name=name, **fields)
    same = PlanVersion.objects.filter(plan__name=name, plan__archived_at__isnull=False).order_by("pk")
    for known in same:
        if all(getattr(known, field) == value for field, value in checked.items()):
            return known
    copy = Plan.objects.create(name=name, archived_at=timezone.now(), is_synthetic=version.plan.is_synthetic)
    return PlanVersion.objects.create(plan=copy, number=1, **checked)


def plan_archive(*, plan: Plan) -> bool:
    """Hide a plan from lists and launching; its runs stay. False when it was archived already."""
    return bool(Plan.objects.filter(pk=plan.pk, archived_at=None).update(archived_at=timezone.now()))


def plan_restore(*, plan: Plan) -> bool:
    """Bring an archived plan back; False when it wasn't archived."""
    return bool(Plan.objects.filter(pk=plan.pk).exclude(archived_at=None).update(archived_at=None))


def _is_same(version: PlanVersion, fields: Mapping[str, Any]) -> bool:
    return all(getattr(version, field) == value for field, value in fields.items())


def _next_version(plan: Plan, latest: int, fields: Mapping[str, Any]) -> PlanVersion:
    try:
        with transaction.atomic():
            return PlanVersion.objects.create(plan=plan, number=latest + 1, **fields)
    except IntegrityError as error:
        raise PlanError("", _("Somebody else saved this plan at the same moment: reload it and try again.")) from error


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


def _checked_labels(labels: Sequence[str]) -> list[str]:
    if fault := labels_fault(labels):
        raise PlanError("labels", fault)
    return stored_labels(labels)
