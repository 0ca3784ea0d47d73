"""Create, change, archive and restore thresholds."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import Metric, catalog
from benchweb.common.formatting import quantity
from benchweb.common.names import name_fault, stored_name
from benchweb.hosts.models import Environment, Pair
from benchweb.plans.models import Plan
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert, Threshold
from benchweb.regressions.transitions import AlertError
from benchweb.results.models import Series

RATIO = "ratio"
MOST_OF_BASELINE = 10
MOST_RUNS_IN_ROW = 20
# As powers of ten.
_PREFIXES = {"": 0, "n": -9, "u": -6, "µ": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "%": -2}
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
    # So many runs in a row break it, or keep it.
    runs_in_row: int = 1
    environment: Environment | None = None
    pair: Pair | None = None
    plan: Plan | None = None
    # Of one test of the kind; empty for all of them.
    identity_digest: str = ""


def threshold_create(values: ThresholdValues, *, by: User | None) -> Threshold:
    """Make a threshold: runs are judged by it from now on."""
    metric = metric_of(values.kind, values.metric)
    if values.relation not in Threshold.Relation:
        raise AlertError(
            "relation", _("A relation is one of {values}.").format(values=", ".join(Threshold.Relation.values))
        )
    if values.relation == Threshold.Relation.BASELINE and metric.better == "neutral":
        raise AlertError(
            "relation", _("{metric} is neither better nor worse: choose above or below.").format(metric=metric.label)
        )
    checked = _checked_values(values.name, values.relation, values.limit, values.severity, values.runs_in_row)
    return Threshold.objects.create(**vars(values) | checked, in_force_since=timezone.now(), created_by=by)


def threshold_update(*, threshold: Threshold, name: str, limit: float, severity: str, runs_in_row: int) -> None:
    """Change a threshold's name, limit, severity and runs in a row: the next runs are judged by them.

    What it is of stays: the alerts that it has would else be about something that it no longer watches.
    """
    checked = _checked_values(name, threshold.relation, limit, severity, runs_in_row)
    Threshold.objects.filter(pk=threshold.pk).update(**checked)


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
    """Take up an archived threshold again: a limit that is still broken opens a new alert with the next run."""
    archived = Threshold.objects.filter(pk=threshold.pk).exclude(archived_at=None)
    archived.update(archived_at=None, in_force_since=timezone.now())


def is_beyond(relation: str, figure: float, limit: float) -> bool:
    """Tell whether a figure breaks a limit that is above or below; both in the metric's unit."""
    return figure > limit if relation == Threshold.Relation.ABOVE else figure < limit


def with_test(rows: "QuerySet[Threshold, Threshold]") -> "QuerySet[Threshold, Threshold]":
    """Add `identity`, the parameters of the test that a threshold is of; None of all tests of its kind."""
    its = Series.objects.filter(kind=OuterRef("kind"), identity_digest=OuterRef("identity_digest"))
    return rows.annotate(identity=Subquery(its.values("identity")[:1]))


def metric_of(kind: str, metric: str) -> Metric:
    """Return a metric of a kind; raise AlertError."""
    described = catalog().kinds.get(kind)
    if described is None:
        raise AlertError("kind", _("There is no test kind {kind}.").format(kind=kind[:60]))
    if metric not in described.metrics:
        raise AlertError("metric", _("{kind} has no metric {metric}.").format(kind=kind, metric=metric[:60]))
    return described.metrics[metric]


def limit_read(text: str, unit: str) -> float:
    """Return a number as people write it, such as 5 Gbit/s, 200 us or 1 %, in the unit; raise AlertError."""
    match = _LIMIT.fullmatch(text.strip())
    if unit == RATIO:
        # Else 5 may be meant as 5 % or as five times.
        if match is None or match[2] != "%" or match[3].strip():
            raise AlertError("limit", _("This limit is a share: write it with %, such as 5 %."))
    elif match is None or match[2] == "%" or match[3].strip() not in ("", unit):
        example = _("A limit is a number with a prefix and {unit}, such as 5 G or 0.2 m.").format(unit=unit or "1")
        raise AlertError("limit", example)
    elif (unit == "s" or unit.endswith("/s")) and not match[2] and not match[3].strip() and float(match[1]):
        # "8" of somebody who thinks in Gbit/s would be 8 bit/s; of what is counted one by one it is 8.
        wanted = _("{number} has no unit: write {number} {unit}, or a prefix such as {number} k{unit}.")
        raise AlertError("limit", wanted.format(number=match[1], unit=unit))
    return float(Decimal(match[1]).scaleb(_PREFIXES[match[2]]))


def limit_text(limit: float, unit: str) -> str:
    """Return a limit as people write it, which reads as the same number: 800 Mbit/s, 200 µs, 1 %."""
    short = str(quantity(limit, unit))
    try:
        is_exact = limit_read(short, unit) == limit
    except AlertError:
        # Thousands apart, a word's prefix or a binary one: no number as people type it.
        is_exact = False
    if is_exact:
        return short
    return f"{limit * 100:.12g} %" if unit == RATIO else f"{limit:.15g} {unit}".rstrip()


def limit_unit(relation: str, metric: Metric) -> str:
    """Return the unit of a limit: the metric's, or a share of the baseline."""
    return RATIO if relation == Threshold.Relation.BASELINE else metric.unit


def _checked_values(name: str, relation: str, limit: float, severity: str, runs_in_row: int) -> dict[str, Any]:
    if fault := name_fault(name):
        raise AlertError("name", fault)
    if severity not in Alert.Severity:
        raise AlertError(
            "severity", _("A severity is one of {values}.").format(values=", ".join(Alert.Severity.values))
        )
    if not math.isfinite(limit):
        raise AlertError("limit", _("A limit is a finite number."))
    if relation == Threshold.Relation.BASELINE and not 0 < limit <= MOST_OF_BASELINE:
        raise AlertError("limit", _("A share of the baseline is above 0 and at most 1,000 %."))
    if not 1 <= runs_in_row <= MOST_RUNS_IN_ROW:
        raise AlertError("runs_in_row", _("Give 1 to {most} runs in a row.").format(most=MOST_RUNS_IN_ROW))
    return {"name": stored_name(name), "limit": limit, "severity": severity, "runs_in_row": runs_in_row}
