"""Judge a run once it has ended: what got worse, what came back, what is to be measured again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from django.db import transaction
from django.utils import timezone

from benchweb.regressions.absence.runs import judge_receipt
from benchweb.regressions.judging import confirmation, grouping, recovery
from benchweb.regressions.judging.findings import (
    SeriesFinding,
    beyond_chance,
    known_part,
    same_segment,
    suspect_finding,
    worsened_findings,
)
from benchweb.regressions.judging.histories import History, histories, series_of_run, slot_began_at
from benchweb.regressions.judging.locks import lock_environments
from benchweb.regressions.judging.slots import regroup_slot
from benchweb.regressions.judging.watched import watched_series
from benchweb.regressions.models import AlertSeries, RunJudgement
from benchweb.regressions.signals import untold
from benchweb.regressions.thresholds.judging import judge_thresholds
from benchweb.results.models import RunFigure, Series
from benchweb.results.nightly_summaries import night_of
from benchweb.runs.models import OPEN_STATES, Run


@transaction.atomic
def judge_run(run_id: int) -> bool:
    """Judge a final run that is summed up, once; False when it was judged before, or can't be yet.

    Several queries, and some milliseconds a series. Runs of one environment are judged one after the other: what has
    one cause must find the other's alert.
    """
    runs = Run.objects.select_related("pair__source__host", "pair__sink__host", "pair__environment", "plan_version")
    run = runs.filter(pk=run_id, has_figures=True).exclude(state__in=OPEN_STATES).first()
    if run is None:
        return False
    RunJudgement.objects.get_or_create(run=run, defaults={"queued_at": timezone.now()})
    judgement = RunJudgement.objects.select_for_update().get(run=run)
    if judgement.judged_at is not None:
        return False
    lock_environments([run.pair.environment_id])
    with nullcontext() if judgement.is_told else untold():
        _judge_series(run)
    RunJudgement.objects.filter(run=run).update(judged_at=timezone.now())
    return True


def _judge_series(run: Run) -> None:
    judge_receipt(run)
    judge_thresholds(run)
    watched = histories(series_of_run(run.pk))
    known = _known_parts(watched)
    # What was chance must not tell which host a re-run points at.
    recovery.notice_recovered(watched, known)
    confirmation.conclude(run.campaign_id)
    new = _new_of(_lasting_findings(run, watched, known), known)
    # The states that recovery goes by may have changed.
    known = _known_parts(watched)
    recovery.notice_recovered(watched, known)
    # An old run that came late is among the latest of none.
    its = [history for history in watched if run.pk in history.places]
    if not confirmation.is_confirmation(run):
        confirmation.take_as_confirmation(run, its, known)
        new += _suspect_findings(run, its, known, {finding.history.series_id for finding in new})
    found = grouping.group_findings(new, pair=run.pair, run=run)
    _take_later_runs(run, its)
    found += regroup_slot(run)
    confirmation.measure_again(found, run)


def _take_later_runs(run: Run, watched: Sequence[History]) -> None:
    """Go by the runs, if any, that were judged before this earlier one: they came back, or show it again."""
    ids = {later.run_id for history in watched for later in history.runs[history.places[run.pk] + 1 :]}
    if not ids:
        return
    recovery.notice_recovered(watched, _known_parts(watched))
    for later in Run.objects.filter(pk__in=ids).select_related("plan_version").order_by("started_at", "pk"):
        its = [history for history in watched if later.pk in history.places]
        confirmation.take_as_confirmation(later, its, _known_parts(its))


def _lasting_findings(
    run: Run, watched: Sequence[History], known: Mapping[int, Sequence[AlertSeries]]
) -> list[SeriesFinding]:
    """Return the changes for the worse, of which at most a share is chance over all that the night measured."""
    findings = worsened_findings(watched, known)
    if not findings:
        return []
    beside = _series_of_night(run) - {history.series_id for history in watched}
    parts = AlertSeries.objects.filter(series__in=beside, threshold=None, recovered_run=None).exclude(p=None)
    # Of each series the newest.
    others = dict(parts.order_by("pk").values_list("series_id", "p"))
    p_values = [p for p in others.values() if p is not None]
    return beyond_chance(findings, others=p_values, series=len(watched) + len(beside))


def _series_of_night(run: Run) -> set[int]:
    """Return the judged series that runs of the same night gave a figure to.

    Two queries, and what they find goes by value into the next one: nested in it, they were run once for each part of
    an alert where PostgreSQL had no statistics of the tables yet.
    """
    ends = datetime.combine(night_of(run.finished_at or timezone.now()), time(12), UTC)
    runs = Run.objects.filter(finished_at__gte=ends - timedelta(days=1), finished_at__lt=ends, has_figures=True)
    figures = RunFigure.objects.filter(run__in=list(runs.values_list("pk", flat=True)))
    return set(Series.objects.filter(watched_series(), pk__in=figures.values("series")).values_list("pk", flat=True))


def _new_of(lasting: Sequence[SeriesFinding], known: Mapping[int, Sequence[AlertSeries]]) -> list[SeriesFinding]:
    """Write what is known already as it looks now; return the rest."""
    new, updated = [], []
    for finding in lasting:
        part = known_part(finding, known.get(finding.history.series_id, ()))
        if part is None:
            new.append(finding)
        elif part[1] is not None:
            grouping.update(part[0], part[1])
            updated.append(part[0])
    grouping.tell_updated(updated)
    return new


def _suspect_findings(
    run: Run, watched: Sequence[History], known: Mapping[int, Sequence[AlertSeries]], reported: set[int]
) -> list[SeriesFinding]:
    new = []
    began = slot_began_at([run.pk])
    for history in watched:
        parts = known.get(history.series_id, ())
        # As it looked before later runs came.
        found = suspect_finding(history.of_slot(run.pk, began, parts), run.pk, parts)
        if found is None or history.series_id in reported:
            continue
        finding = replace(found, history=history)
        part = same_segment(finding, parts)
        if part is None:
            new.append(finding)
        elif not part.is_confirmed and history.places[run.pk] < history.places.get(part.first_bad_run_id, 0):
            grouping.begin_earlier(part, finding)
    return new


def _known_parts(watched: Sequence[History]) -> dict[int, list[AlertSeries]]:
    """Return the series' parts in alerts, the newest first."""
    ids = [history.series_id for history in watched]
    known: dict[int, list[AlertSeries]] = defaultdict(list)
    for part in AlertSeries.objects.filter(series__in=ids, threshold=None).select_related("alert").order_by("-pk"):
        known[part.series_id].append(part)
    return known
