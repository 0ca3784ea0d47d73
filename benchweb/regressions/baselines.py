"""Runs that others are compared with, pinned by people: "since release 5.2"."""

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.names import name_fault, stored_name
from benchweb.regressions.models import Baseline
from benchweb.regressions.transitions import AlertError
from benchweb.runs.models import OPEN_STATES, Run


def pinned_baseline(run: Run) -> Baseline | None:
    """Return the baseline that was pinned last for a run's pair and plan."""
    of_both = Baseline.objects.filter(pair=run.pair_id, plan=run.plan_version.plan_id, archived_at=None)
    return of_both.select_related("run").order_by("-pk").first()


def baseline_pin(*, run: Run, name: str, by: User | None) -> Baseline:
    """Pin a final run as the baseline of its pair and plan, in place of the one before."""
    if fault := name_fault(name):
        raise AlertError("name", fault)
    if run.state in OPEN_STATES:
        raise AlertError("run", _("A run that has not ended is no baseline yet."))
    if run.has_figures and not run.figures.exists():
        raise AlertError("run", _("Run {run} has no results: nothing could be compared with it.").format(run=run.pk))
    return Baseline.objects.create(
        name=stored_name(name),
        run=run,
        environment_id=run.pair.environment_id,
        pair_id=run.pair_id,
        plan_id=run.plan_version.plan_id,
        pinned_at=timezone.now(),
        pinned_by=by,
    )


def baseline_unpin(*, baseline: Baseline) -> None:
    """Archive a baseline: the one that was pinned before it holds again, if there is one; again is no error."""
    Baseline.objects.filter(pk=baseline.pk, archived_at=None).update(archived_at=timezone.now())


def baseline_restore(*, baseline: Baseline) -> None:
    """Pin an archived baseline again; a newer one of its pair and plan goes before it."""
    Baseline.objects.filter(pk=baseline.pk).update(archived_at=None)
