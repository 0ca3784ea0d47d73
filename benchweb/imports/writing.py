"""Write what was measured elsewhere: a finished run with its trials, results and points."""

import json
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User

from benchweb.accounts.permissions import Permission, access_of
from benchweb.catalog.reasons import Reason, joined, reason_fields
from benchweb.common.storable import storable
from benchweb.hosts.models import Pair
from benchweb.imports.trials import ImportedTrial
from benchweb.plans.models import PlanVersion
from benchweb.regressions.judgements import leave_unjudged, request_judgement
from benchweb.results.ingest import series_of
from benchweb.results.models import Point, Result
from benchweb.runs.models import Campaign, Run, State, Trial


def run_write(
    *,
    version: PlanVersion,
    trials: Sequence[ImportedTrial],
    pair: Pair,
    at: datetime,
    user: User | None,
    is_judged: bool,
    remark: str = "",
) -> Run:
    """Make the run, in the caller's transaction; no change is looked for in it unless `is_judged`.

    A trial with an error fails, and the run with it, for that reason: what such a trial measured joins no series.
    Of what was measured more than two days ago changes are looked for, and nobody is told of them.

    Raise Refused where the user may not run in the pair's environment; without a user it comes from the console.
    """
    if user is not None:
        access_of(user).demand(Permission.RUN, [pair.environment_id])
    campaign = Campaign.objects.create(plan_version=version, created_by_id=user.pk if user else None)
    errors = [trial.error for trial in trials if trial.error]
    run = Run.objects.create(
        campaign=campaign,
        pair=pair,
        plan_version=version,
        state=State.FAILED if errors else State.FINISHED,
        started_at=at,
        finished_at=at,
        **reason_fields("reason", _reason(errors, len(trials), remark)),
    )
    # Listed and counted by when it was measured.
    Run.objects.filter(pk=run.pk).update(created_at=at)
    _write_trials(run, trials, at)
    (request_judgement if is_judged else leave_unjudged)(run)
    return run


def _reason(errors: Sequence[str], total: int, remark: str) -> str:
    """Say how many trials failed and why the first did, as of a measured run; then the remark."""
    failed = joined([Reason("trials_failed", failed=len(errors), total=total), errors[0]], ": ") if errors else ""
    return joined([failed, remark], ". ")


def _write_trials(run: Run, trials: Sequence[ImportedTrial], at: datetime) -> None:
    repetitions: Counter[str] = Counter()
    rows = []
    for index, imported in enumerate(trials, 1):
        params = storable(imported.params)
        test = json.dumps([imported.kind, params], sort_keys=True)
        repetitions[test] += 1
        rows.append(
            Trial(
                run=run,
                index=index,
                kind=imported.kind,
                params=params,
                repetition=repetitions[test],
                state=State.FAILED if imported.error else State.FINISHED,
                **reason_fields("reason", imported.error),
                cookie=uuid.uuid4().hex,
                started_at=at,
                finished_at=at,
            )
        )
    Trial.objects.bulk_create(rows)
    Result.objects.bulk_create(
        Result(trial=trial, metrics=imported.metrics, flags=imported.flags, document=imported.document)
        for trial, imported in zip(rows, trials, strict=True)
    )
    points = []
    for trial, imported in zip(rows, trials, strict=True):
        if imported.error:
            continue
        ids = series_of(trial, imported.metrics)
        points += [
            Point(series_id=ids[metric], at=at, value=value, run=run, trial=trial)
            for metric, value in imported.metrics.items()
        ]
    Point.objects.bulk_create(points)
