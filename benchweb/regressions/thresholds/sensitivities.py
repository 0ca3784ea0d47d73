"""Say from what on changes are told of a plan, environment, kind or metric."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.deciding import LARGEST_FLOOR_RATIO, LEAST_NOISE_TIMES, MOST_NOISE_TIMES
from benchweb.regressions.models import Sensitivity
from benchweb.regressions.thresholds.rules import metric_of
from benchweb.regressions.transitions import AlertError
from benchweb.statistics.deciding import LEAST_CHANGE_RATIO


@dataclass(frozen=True)
class SensitivityScope:
    """Of what it is said; what is empty is all."""

    plan: Plan | None = None
    environment: Environment | None = None
    kind: str = ""
    metric: str = ""


def sensitivity_create(scope: SensitivityScope, *, floor_ratio: float | None, noise_times: float | None) -> Sensitivity:
    """Say it of a scope of which nothing is said yet: runs that end from now on are judged by it."""
    _check_scope(scope)
    _check_values(floor_ratio, noise_times)
    with _at_most_once():
        return Sensitivity.objects.create(**vars(scope), floor_ratio=floor_ratio, noise_times=noise_times)


def sensitivity_update(*, sensitivity: Sensitivity, floor_ratio: float | None, noise_times: float | None) -> None:
    """Say other values of the same scope."""
    _check_values(floor_ratio, noise_times)
    Sensitivity.objects.filter(pk=sensitivity.pk).update(floor_ratio=floor_ratio, noise_times=noise_times)


def sensitivity_archive(*, sensitivity: Sensitivity) -> None:
    """Judge as usual again; what is archived already stays so."""
    Sensitivity.objects.filter(pk=sensitivity.pk, archived_at=None).update(archived_at=timezone.now())


def sensitivity_restore(*, sensitivity: Sensitivity) -> None:
    """Judge by an archived one again; refused where another says it of the same scope by now."""
    with _at_most_once():
        Sensitivity.objects.filter(pk=sensitivity.pk).update(archived_at=None)


@contextmanager
def _at_most_once() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise AlertError(
            "", _("This plan, environment, kind and metric have a sensitivity already: change that one.")
        ) from None


def _check_scope(scope: SensitivityScope) -> None:
    if scope == SensitivityScope():
        raise AlertError("", _("A sensitivity is of a plan, an environment, a kind or a metric: name at least one."))
    if scope.kind and scope.metric:
        metric_of(scope.kind, scope.metric)
    elif scope.kind and scope.kind not in catalog().kinds:
        raise AlertError("kind", _("There is no test kind {kind}.").format(kind=scope.kind[:60]))
    elif scope.metric and scope.metric not in catalog().metrics:
        raise AlertError("metric", _("There is no metric {metric}.").format(metric=scope.metric[:60]))


def _check_values(floor_ratio: float | None, noise_times: float | None) -> None:
    if floor_ratio is None and noise_times is None:
        raise AlertError("floor_ratio", _("Give a smallest change, or how many times the noise a suspect is off."))
    _check("floor_ratio", floor_ratio, LEAST_CHANGE_RATIO, LARGEST_FLOOR_RATIO)
    _check("noise_times", noise_times, LEAST_NOISE_TIMES, MOST_NOISE_TIMES)


def _check(field: str, value: float | None, least: float, most: float) -> None:
    if value is not None and not (math.isfinite(value) and least <= value <= most):
        raise AlertError(field, _("Give a number from {least:g} to {most:g}.").format(least=least, most=most))
