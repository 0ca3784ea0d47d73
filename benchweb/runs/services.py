"""Launch, cancel, and wake runs."""

import secrets
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchweb import queue
from benchweb.hosts.models import Pair
from benchweb.plans.expansion import PlannedTrial, expanded
from benchweb.plans.models import Plan, PlanVersion
from benchweb.runs import live
from benchweb.runs.models import OPEN_STATES, Campaign, Run, RunEvent, State, Trial

EXECUTE_TASK = "workers.tasks.execute_run"
# A campaign of more runs than this is refused: pairs ticked by mistake must not fill the database.
MAXIMUM_PAIRS = 1_000
_BATCH = 2_000


class LaunchError(ValueError):
    """A refused launch: `field` names what is at fault (plan or pairs)."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@transaction.atomic
def launch(*, plan: Plan, pairs: Sequence[Pair], user: User | None) -> Campaign:
    """Launch the plan's latest version on the pairs: a campaign with a pending run per pair."""
    if plan.archived_at is not None:
        raise LaunchError("plan", f"Plan {plan.name} is archived: restore it, or choose another.")
    return launch_version(version=plan.versions.order_by("-number")[0], pairs=pairs, user=user)


@transaction.atomic
def launch_version(*, version: PlanVersion, pairs: Sequence[Pair], user: User | None) -> Campaign:
    """Launch one plan version, as it was, on the pairs."""
    _check_pairs(pairs)
    campaign = Campaign.objects.create(plan_version=version, created_by=user)
    runs = Run.objects.bulk_create(
        Run(campaign=campaign, pair=pair, plan_version=version) for pair in {pair.pk: pair for pair in pairs}.values()
    )
    trials = (trial for run in runs for trial in trials_of(run, _planned(version, run)))
    Trial.objects.bulk_create(trials, batch_size=_BATCH)
    for run in runs:
        queue.send_on_commit(EXECUTE_TASK, run.pk)
    return campaign


def run_cancel(*, run: Run) -> bool:
    """Ask for a run's cancellation: at once when pending, within a second when running; False when it was final."""
    now = timezone.now()
    with transaction.atomic():
        pending = Run.objects.filter(pk=run.pk, state=State.PENDING).update(
            state=State.CANCELLED,
            reason="cancelled before it started",
            cancel_requested_at=now,
            finished_at=now,
        )
        if pending:
            Trial.objects.filter(run=run, state=State.PENDING).update(
                state=State.CANCELLED, reason="the run was cancelled", finished_at=now
            )
            event_add(run_id=run.pk, text="Cancelled before it started.")
            transaction.on_commit(lambda: live.publish(run.pk, {"type": "run", "state": State.CANCELLED}))
            return True
        asked = Run.objects.filter(pk=run.pk, state=State.RUNNING, cancel_requested_at=None).update(
            cancel_requested_at=now
        )
        if asked:
            event_add(run_id=run.pk, text="Cancellation asked for.")
            transaction.on_commit(lambda: live.publish_cancel(run.pk))
        return bool(asked)


def campaign_cancel(*, campaign: Campaign) -> int:
    """Cancel every open run of a campaign; give how many were."""
    return sum(run_cancel(run=run) for run in campaign.runs.filter(state__in=OPEN_STATES))


def event_add(*, run_id: int, text: str) -> None:
    """Note for people what happened to a run."""
    RunEvent.objects.create(run_id=run_id, at=timezone.now(), text=text)


def _check_pairs(pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise LaunchError("pairs", "Choose at least one pair to run the plan on.")
    if len(pairs) > MAXIMUM_PAIRS:
        raise LaunchError("pairs", f"{len(pairs):,} pairs at once; at most {MAXIMUM_PAIRS:,} can be launched together.")
    for pair in pairs:
        rows = (pair, pair.source, pair.sink, pair.source.host, pair.sink.host, pair.environment)
        archived = next((row for row in rows if row.archived_at is not None), None)
        if archived is not None:
            what = type(archived).__name__.lower()
            raise LaunchError("pairs", f"{pair} can't run: its {what} {archived} is archived. Restore it first.")


def _planned(version: PlanVersion, run: Run) -> list[PlannedTrial]:
    return expanded(version.steps, version.repetitions, version.order, seed=run.pk)


def trials_of(run: Run, planned: Iterable[PlannedTrial], first_index: int = 1) -> list[Trial]:
    """Make rows, not yet saved, of planned trials."""
    return [
        Trial(
            run=run,
            index=index,
            kind=trial.kind,
            params=trial.params,
            repetition=trial.repetition,
            cookie=secrets.token_hex(32),
        )
        for index, trial in enumerate(planned, start=first_index)
    ]
