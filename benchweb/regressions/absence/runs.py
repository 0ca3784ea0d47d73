"""Runs that finished, and nothing was received."""

from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from benchweb.catalog import catalog
from benchweb.regressions.absence.alerts import end_where, live_alerts, open_once
from benchweb.regressions.models import Alert
from benchweb.results.models import RunFigure
from benchweb.runs.models import Run, State


def judge_receipt(run: Run) -> None:
    """Open an alert for a pair whose runs finish with nothing received; end it with the first that received."""
    if run.state != State.FINISHED:
        return
    its = [alert for alert in live_alerts("nothing") if alert.pair_id == run.pair_id]
    began = run.started_at or run.created_at
    if _has_received(RunFigure.objects.filter(run=run)):
        end_where(its, lambda alert: alert.begun_at < began)
        return
    latest = Alert.objects.filter(code="nothing", pair=run.pair_id).order_by("-pk").first()
    if latest is not None and not _has_received(
        RunFigure.objects.filter(series__pair=run.pair_id, at__gte=latest.begun_at)
    ):
        Alert.objects.filter(pk=latest.pk, ended_at=None).update(params={"runs": latest.params["runs"] + 1})
        return
    open_once(
        code="nothing",
        key=f"{run.pair_id}:{run.pk}",
        begun_at=began,
        pair=run.pair,
        environment=run.pair.environment,
        plan_id=run.plan_version.plan_id,
        params={"runs": 1},
    )


def _has_received(figures: "QuerySet[RunFigure, RunFigure]") -> bool:
    """Tell whether any headline is more than nothing; without a headline, whether not all was lost.

    Results that are pushed may lack the headline, and an engine gives none of replies that never came.
    """
    kinds = catalog().kinds.values()
    headlines = reduce(or_, (Q(series__kind=kind.name, series__metric=kind.headline) for kind in kinds))
    if figures.filter(headlines).exists():
        return figures.filter(headlines, median__gt=0).exists()
    losses = Q(series__metric__in=[key for key, metric in catalog().metrics.items() if metric.is_loss])
    if figures.filter(losses).exists():
        return figures.filter(losses, median__lt=1).exists()
    return figures.exists()
