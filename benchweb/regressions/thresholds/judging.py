"""Judge a run by the thresholds: one alert for what breaks a limit at once, which recovers by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from benchweb.catalog import catalog
from benchweb.regressions import transitions
from benchweb.regressions.baselines import pinned_baseline
from benchweb.regressions.deciding import FLAPPING_RUNS, FLAPPING_TIME
from benchweb.regressions.handling.snoozes import wake_if_worse
from benchweb.regressions.judging.causes import common_causes, common_host, common_uplink
from benchweb.regressions.judging.grouping import pairs_with_hosts, schedule_of
from benchweb.regressions.judging.recovery import end_if_recovered
from benchweb.regressions.models import UNTRIAGED_STATES, Alert, AlertSeries, Threshold
from benchweb.regressions.thresholds.rules import is_beyond
from benchweb.results.models import RunFigure
from benchweb.results.nightly_summaries import night_of
from benchweb.runs.models import Run
from benchweb.statistics.deciding import WINDOW_RUNS

State, Relation = Alert.State, Threshold.Relation


@dataclass(frozen=True)
class _Breach:
    """A figure that breaks a limit, both in the metric's unit."""

    figure: RunFigure
    limit: float

    @property
    def ratio(self) -> float | None:
        """Return how far it is beyond the limit, as a share of that; None of a limit of 0."""
        return (self.figure.median - self.limit) / abs(self.limit) if self.limit else None


def judge_thresholds(run: Run) -> None:
    """Open and end alerts by what a run gave to the series that it is the latest of; a query or some per threshold."""
    scope = Q(environment=None) | Q(environment=run.pair.environment_id)
    scope &= Q(pair=None) | Q(pair=run.pair_id)
    scope &= Q(plan=None) | Q(plan=run.plan_version.plan_id)
    if run.pair.environment.is_synthetic:
        # What nobody measured breaks no limit of what is measured, and keeps no alert of it open.
        scope &= Q(environment=run.pair.environment_id) | Q(pair=run.pair_id) | Q(plan=run.plan_version.plan_id)
    thresholds = list(Threshold.objects.filter(scope, archived_at=None).order_by("pk"))
    if not thresholds:
        return
    newer = RunFigure.objects.filter(series=OuterRef("series"), at__gt=OuterRef("at"))
    latest = list(RunFigure.objects.filter(~Exists(newer), run=run).select_related("series"))
    for threshold in thresholds:
        its = [figure for figure in latest if _concerns_figure(threshold, figure)]
        if its:
            _judge_threshold(threshold, its, run)


def _concerns_figure(threshold: Threshold, figure: RunFigure) -> bool:
    series = figure.series
    is_its = (series.kind, series.metric) == (threshold.kind, threshold.metric)
    return is_its and threshold.identity_digest in ("", series.identity_digest)


def describe(alert: Alert) -> None:
    """Write what the parts of an alert of a threshold have in common, and the worst of them."""
    parts = list(alert.series.select_related("series", "threshold").order_by("pk"))
    pairs = pairs_with_hosts({part.series.pair_id for part in parts})
    worst = max(parts, key=lambda part: (abs(part.difference_ratio or 0.0), -part.pk))
    causes = common_causes(pairs)
    sizes = [abs(part.difference_ratio) for part in parts if part.difference_ratio is not None]
    Alert.objects.filter(pk=alert.pk).update(
        pair=pairs[0] if len(pairs) == 1 else None,
        host=common_host(causes) if len(pairs) > 1 else None,
        size_ratio=max(sizes, default=None),
        params={
            "kind": worst.series.kind,
            "metric": worst.series.metric,
            "identity": worst.series.identity,
            "relation": worst.threshold.relation if worst.threshold else Relation.ABOVE.value,
            "value": worst.after,
            "limit": worst.before,
            "ratio": worst.difference_ratio,
            "series": len(parts),
            "pairs": len(pairs),
            "uplink": common_uplink(causes) if len(pairs) > 1 else "",
            "comes_and_goes": bool(alert.params.get("comes_and_goes")),
        },
    )
    wake_if_worse(alert.pk)


def _judge_threshold(threshold: Threshold, figures: Sequence[RunFigure], run: Run) -> None:
    limits = _limits(threshold, figures, run)
    ids = [figure.series_id for figure in figures]
    # What an archived one reported is over; restored it reports that again.
    in_force = Q(alert__ended_at=None) | Q(alert__created_at__gte=threshold.in_force_since)
    parts = threshold.parts.filter(in_force, series__in=ids, recovered_run=None)
    broken = {part.series_id: part for part in parts.select_related("alert").order_by("pk")}
    new: list[_Breach] = []
    concerned: set[int] = set()
    for figure in figures:
        limit, part = limits.get(figure.series_id), broken.get(figure.series_id)
        breach = _Breach(figure, limit) if limit is not None and _is_beyond(threshold, figure, limit) else None
        if breach and part is None:
            if not _has_come_back(threshold, breach) and _are_alike(threshold, breach, threshold.runs_in_row):
                new.append(breach)
        elif breach and part is not None:
            _update_part(part, breach)
        elif part is not None and limit is not None:
            kept = _Breach(figure, limit)
            if _are_alike(threshold, kept, threshold.runs_in_row) and _is_calm(threshold, part, kept):
                AlertSeries.objects.filter(pk=part.pk).update(recovered_run=run)
                concerned.add(part.alert_id)
    if new:
        _open_alert(threshold, new, run)
    for alert_id in sorted(concerned):
        end_if_recovered(alert_id)


def _are_alike(threshold: Threshold, latest: _Breach, runs: int) -> bool:
    """Tell whether so many of a series' runs in a row, up to the latest, are all beyond the limit, or all within it."""
    if runs == 1:
        return True
    figure, is_beyond = latest.figure, _is_beyond(threshold, latest.figure, latest.limit)
    before = RunFigure.objects.filter(series=figure.series_id, at__lt=figure.at).order_by("-at")[: runs - 1]
    alike = [_is_beyond(threshold, other, latest.limit) == is_beyond for other in before]
    return len(alike) == runs - 1 and all(alike)


def _is_calm(threshold: Threshold, part: AlertSeries, kept: _Breach) -> bool:
    """Tell whether a limit that comes and goes has been kept for so many runs, and so long, that its alert may end.

    Of one that was broken once, one run that keeps it is enough.
    """
    if not part.alert.params.get("comes_and_goes"):
        return True
    figure = kept.figure
    lately = RunFigure.objects.filter(series=figure.series_id, at__gte=figure.at - FLAPPING_TIME, at__lt=figure.at)
    is_broken_lately = any(_is_beyond(threshold, other, kept.limit) for other in lately)
    return not is_broken_lately and _are_alike(threshold, kept, FLAPPING_RUNS)


def _has_come_back(threshold: Threshold, breach: _Breach) -> bool:
    """Open the alert again that ended just now for the same series; True where there was one.

    From then on it ends only after some runs in a row and some time: what lies around its limit is one alert, and not
    one a run.
    """
    figure = breach.figure
    ended = threshold.parts.filter(series=figure.series_id, alert__state=State.RECOVERED).exclude(recovered_run=None)
    part = ended.filter(alert__created_at__gte=threshold.in_force_since).select_related("alert").order_by("-pk").first()
    if part is None or not _is_flapping(part, figure) or not _is_in_force(threshold):
        return False
    AlertSeries.objects.filter(pk=part.pk).update(recovered_run=None)
    params = {**part.alert.params, "comes_and_goes": True}
    Alert.objects.filter(pk=part.alert_id).update(params=params, severity=threshold.severity)
    transitions.come_back(part.alert_id)
    _update_part(part, breach)
    return True


def _is_flapping(part: AlertSeries, figure: RunFigure) -> bool:
    """Tell whether a series' limit was kept for a few runs or a short time only, before a figure that breaks it."""
    kept_from = RunFigure.objects.filter(series=part.series_id, run=part.recovered_run).values_list("at", flat=True)
    began = kept_from.first()
    if began is None:
        return False
    between = RunFigure.objects.filter(series=part.series_id, at__gte=began, at__lt=figure.at).count()
    return between < FLAPPING_RUNS or figure.at - began <= FLAPPING_TIME


def _limits(threshold: Threshold, figures: Sequence[RunFigure], run: Run) -> Mapping[int, float]:
    """Return each series' limit; without one where no baseline is pinned, or it measured 0 or nothing."""
    if threshold.relation != Relation.BASELINE:
        return {figure.series_id: threshold.limit for figure in figures}
    pinned = pinned_baseline(run)
    if pinned is None or pinned.run_id == run.pk:
        return {}
    metric = catalog().kinds[threshold.kind].metrics[threshold.metric]
    factor = 1 - threshold.limit if metric.better == "higher" else 1 + threshold.limit
    ids = [figure.series_id for figure in figures]
    baselines = RunFigure.objects.filter(run=pinned.run_id, series__in=ids).exclude(median=0)
    return {figure.series_id: figure.median * factor for figure in baselines}


def _is_beyond(threshold: Threshold, figure: RunFigure, limit: float) -> bool:
    if threshold.relation == Relation.BASELINE:
        metric = catalog().kinds[threshold.kind].metrics[threshold.metric]
        return figure.median < limit if metric.better == "higher" else figure.median > limit
    return is_beyond(threshold.relation, figure.median, limit)


def _open_alert(threshold: Threshold, breaches: Sequence[_Breach], run: Run) -> None:
    """Open the alert of breaches, unless the threshold is archived by now: nothing would end it."""
    if _is_in_force(threshold):
        _open_or_add(threshold, breaches, run)


def _is_in_force(threshold: Threshold) -> bool:
    """Tell whether a threshold is not archived, and keep it so until the transaction ends."""
    return Threshold.objects.select_for_update().filter(pk=threshold.pk, archived_at=None).exists()


def _open_or_add(threshold: Threshold, breaches: Sequence[_Breach], run: Run) -> None:
    """Add breaches to the open alert of the threshold, else to a new one, of which people are notified.

    What was acknowledged of one pair hides no other pair.
    """
    live = Alert.objects.filter(ended_at=None, kind=Alert.Kind.THRESHOLD, series__threshold=threshold)
    fit = live.filter(Q(state__in=UNTRIAGED_STATES) | Q(series__series__pair=run.pair_id))
    alert = fit.order_by("pk").first()
    is_new = alert is None
    if alert is None:
        alert = transitions.begin(_new_alert(threshold, breaches[0], run))
    for breach in breaches:
        _add_part(alert, threshold, breach, run)
    describe(alert)
    if is_new:
        transitions.move(alert.pk, State.OPEN)


def _new_alert(threshold: Threshold, breach: _Breach, run: Run) -> Alert:
    at = breach.figure.at
    return Alert(
        kind=Alert.Kind.THRESHOLD,
        # For a moment: it opens once all of its series are known, and people are told of it with these.
        state=State.SUSPECT,
        code="threshold",
        severity=threshold.severity,
        environment_id=run.pair.environment_id,
        pair=run.pair,
        plan_id=run.plan_version.plan_id,
        schedule=schedule_of(run),
        begun_at=at,
        night=night_of(at),
        segment_key=f"threshold:{threshold.pk}:{run.pk}",
    )


def _add_part(alert: Alert, threshold: Threshold, breach: _Breach, run: Run) -> None:
    figure = breach.figure
    AlertSeries.objects.create(
        alert=alert,
        series_id=figure.series_id,
        threshold=threshold,
        segment_key=f"threshold:{threshold.pk}:{figure.series_id}:{run.pk}",
        before=breach.limit,
        after=figure.median,
        difference_ratio=breach.ratio,
        last_good_run_id=_last_good_run(threshold, breach),
        first_bad_run=run,
    )


def _last_good_run(threshold: Threshold, breach: _Breach) -> int | None:
    """Return the latest run that kept the limit; None where none of the runs looked at did."""
    before = RunFigure.objects.filter(series=breach.figure.series_id, at__lt=breach.figure.at).order_by("-at")
    kept = (other for other in before[:WINDOW_RUNS] if not _is_beyond(threshold, other, breach.limit))
    good = next(kept, None)
    return good.run_id if good else None


def _update_part(part: AlertSeries, breach: _Breach) -> None:
    part.before, part.after, part.difference_ratio = breach.limit, breach.figure.median, breach.ratio
    part.save(update_fields=["before", "after", "difference_ratio"])
    alert = Alert.objects.filter(pk=part.alert_id, ended_at=None).first()
    if alert is not None:
        describe(alert)
