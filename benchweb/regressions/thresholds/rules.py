"""Make and archive thresholds."""

import math
import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import Metric, catalog
from benchweb.common.names import name_fault, stored_name
from benchweb.hosts.models import Environment, Pair
from benchweb.plans.models import Plan
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert, Threshold
from benchweb.regressions.transitions import AlertError

_PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "%": 0.01}
_LIMIT = re.compile(r"([-+]?\d{1,20}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?)\s*([nuµmkMGT%]?)(.*)", re.ASCII)


@dataclass(frozen=True)
class ThresholdValues:
    """All that a threshold says; what is None holds for all."""

    name: str
    kind: str
    metric: str
    relation: str
    # In the metric's unit, or a share of the baseline.
    limit: float
    severity: str = Alert.Severity.WARNING
    environment: Environment | None = None
    pair: Pair | None = None
    plan: Plan | None = None


def threshold_create(values: ThresholdValues, *, by: User | None) -> Threshold:
    """Make a threshold: runs are judged by it from now on."""
    if fault := name_fault(values.name):
        raise AlertError("name", fault)
    metric = metric_of(values.kind, values.metric)
    if values.relation not in Threshold.Relation:
        raise AlertError(
            "relation", _("A relation is one of {values}.").format(values=", ".join(Threshold.Relation.values))
        )
    if values.severity not in Alert.Severity:
        raise AlertError(
            "severity", _("A severity is one of {values}.").format(values=", ".join(Alert.Severity.values))
        )
    _check_limit(values, metric)
    return Threshold.objects.create(**vars(values) | {"name": stored_name(values.name)}, created_by=by)


@transaction.atomic
def threshold_archive(*, threshold: Threshold, by: User | None) -> None:
    """Archive a threshold, and mark as fixed the live alerts that are of it alone; again is no error."""
    archived = Threshold.objects.filter(pk=threshold.pk, archived_at=None).update(archived_at=timezone.now())
    live = Alert.objects.filter(ended_at=None, series__threshold=threshold).exclude(
        pk__in=Alert.objects.filter(ended_at=None, series__recovered_run=None).exclude(series__threshold=threshold)
    )
    for alert_id in live.order_by("pk").values_list("pk", flat=True).distinct() if archived else ():
        transitions.fix(alert_id=alert_id, by=by, comment=_("Its threshold was archived."))


def threshold_restore(*, threshold: Threshold) -> None:
    """Take up an archived threshold again: runs are judged by it from now on."""
    Threshold.objects.filter(pk=threshold.pk).update(archived_at=None)


def metric_of(kind: str, metric: str) -> Metric:
    """Return a metric of a kind; raise AlertError."""
    found = catalog().kinds.get(kind)
    if found is None:
        raise AlertError("kind", _("There is no test kind {kind}.").format(kind=kind[:60]))
    if metric not in found.metrics:
        raise AlertError("metric", _("{kind} has no metric {metric}.").format(kind=kind, metric=metric[:60]))
    return found.metrics[metric]


def limit_read(text: str, unit: str) -> float:
    """Return a number as people write it, such as 5 Gbit/s, 200 us or 1 %, in the unit; raise AlertError."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None or match[3].strip() not in ("", unit):
        example = _("A limit is a number with a prefix and {unit}, such as 5 G or 0.2 m.").format(unit=unit or "1")
        raise AlertError("limit", example)
    return float(match[1]) * _PREFIXES[match[2]]


def _check_limit(values: ThresholdValues, metric: Metric) -> None:
    if not math.isfinite(values.limit):
        raise AlertError("limit", _("A limit is a finite number."))
    if values.relation != Threshold.Relation.BASELINE:
        return
    if metric.better == "neutral":
        raise AlertError(
            "relation", _("{metric} is neither better nor worse: choose above or below.").format(metric=metric.label)
        )
    if not 0 < values.limit <= 10:
        raise AlertError("limit", _("A share of the baseline is above 0 and at most 1,000 %."))
