"""Judge a run once it has ended: what got worse, what came back, what is to be measured again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone

from benchweb.regressions.absence.runs import judge_receipt
from benchweb.regressions.judging import confirmation, grouping, recovery
from benchweb.regressions.judging.findings import Finding, lasting_findings, same_segment, suspect_finding
from benchweb.regressions.judging.histories import History, histories, watched_series
from benchweb.regressions.judging.locks import lock_environments
from benchweb.regressions.models import Alert, AlertSeries, RunJudgement
from benchweb.regressions.thresholds.judging import judge_thresholds
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
    if RunJudgement.objects.select_for_update().get(run=run).judged_at is not None:
        return False
    lock_environments([run.pair.environment_id])
    _judge(run)
    RunJudgement.objects.filter(run=run).update(judged_at=timezone.now())
    return True


def _judge(run: Run) -> None:
    judge_receipt(run)
    judge_thresholds(run)
    found = histories(watched_series(run.pk))
    known = _known(found)
    # What was chance must not tell which host a re-run points at.
    recovery.notice(found, known)
    confirmation.conclude(run.campaign_id)
    new = _new_of(lasting_findings(found, known), known)
    # The states that recovery goes by may have changed.
    known = _known(found)
    recovery.notice(found, known)
    is_rerun = confirmation.is_confirmation(run)
    new += [] if is_rerun else _suspects(run, found, known, {finding.history.series_id for finding in new})
    for alert in grouping.place(new, pair=run.pair, run=run):
        if alert.state == Alert.State.SUSPECT and alert.confirmation_id is None:
            confirmation.confirm(alert, run)


def _new_of(lasting: Sequence[Finding], known: Mapping[int, Sequence[AlertSeries]]) -> list[Finding]:
    """Write what is known already as it looks now; return the rest."""
    new = []
    for finding in lasting:
        part = same_segment(finding, known.get(finding.history.series_id, ()))
        if part is None:
            new.append(finding)
        else:
            grouping.update(part, finding)
    return new


def _suspects(
    run: Run, found: Sequence[History], known: Mapping[int, Sequence[AlertSeries]], told: set[int]
) -> list[Finding]:
    candidates = (
        suspect_finding(history, run.pk, known.get(history.series_id, ()))
        for history in found
        if history.series_id not in told
    )
    return [
        finding
        for finding in candidates
        if finding and same_segment(finding, known.get(finding.history.series_id, ())) is None
    ]


def _known(found: Sequence[History]) -> dict[int, list[AlertSeries]]:
    """Return the series' parts in alerts, the newest first."""
    ids = [history.series_id for history in found]
    known: dict[int, list[AlertSeries]] = defaultdict(list)
    for part in AlertSeries.objects.filter(series__in=ids, threshold=None).select_related("alert").order_by("-pk"):
        known[part.series_id].append(part)
    return known
