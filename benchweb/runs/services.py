"""Launch and cancel runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.names import kind_word
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan, PlanVersion
from benchweb.runs import endings
from benchweb.runs.bulk import PlannedRun, write_runs
from benchweb.runs.models import OPEN_STATES, Campaign, Run
from benchweb.runs.placement.meshes import Job, arranged, lower_bound_seconds, makespan_seconds
from benchweb.runs.queueing import dispatch
from benchweb.runs.queueing.occupancy import occupancy, resources_of

# A launch of more runs than this asks first, naming the number: pairs ticked by mistake must not hold every host.
CONFIRM_ABOVE = 1_000


class LaunchError(ValueError):
    """A refused launch: `field` names what is at fault (plan or pairs)."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def confirmation_needed(count: int, confirmed: int | None) -> str | None:
    """Return the sentence that asks whether so many runs are meant, or None when they are or are few."""
    if count <= CONFIRM_ABOVE or (confirmed or 0) >= count:
        return None
    return _(
        "This makes {count} runs, and more than {confirm_above} at once are launched only on purpose: confirm "
        "the number {count_2} if it is meant."
    ).format(count=f"{count:,}", confirm_above=f"{CONFIRM_ABOVE:,}", count_2=count)


@transaction.atomic
def launch(
    *,
    plan: Plan,
    pairs: Sequence[Pair],
    user: User | None,
    start_before: datetime | None = None,
    retries: int = 0,
    retry_pause_seconds: float = 60,
) -> Campaign:
    """Launch the plan's latest version on the pairs: a campaign with a pending run per pair.

    Runs that have not begun by `start_before` end as nonstart. An engine that can't be reached or is busy is tried
    again `retries` times, with a pause. Whether so many runs are meant is the caller's to ask.
    """
    if plan.archived_at is not None:
        raise LaunchError("plan", _("Plan {plan} is archived: restore it, or choose another.").format(plan=plan.name))
    return launch_version(
        version=plan.versions.order_by("-number")[0],
        pairs=pairs,
        user=user,
        start_before=start_before,
        retries=retries,
        retry_pause_seconds=retry_pause_seconds,
    )


@transaction.atomic
def launch_version(
    *,
    version: PlanVersion,
    pairs: Sequence[Pair],
    user: User | None,
    start_before: datetime | None = None,
    retries: int = 0,
    retry_pause_seconds: float = 60,
) -> Campaign:
    """Launch one plan version, as it was, on the pairs."""
    _check_pairs(pairs)
    campaign = Campaign(
        plan_version=version,
        created_by=user,
        start_before=start_before,
        retries=retries,
        retry_pause_seconds=retry_pause_seconds,
    )
    planned = _planned(campaign, list({pair.pk: pair for pair in pairs}.values()))
    campaign.save()
    write_runs(campaign, planned, is_exclusive=occupancy(version.pk).is_exclusive)
    concerned = {resource_id for run in planned for resource_id in run.resource_ids}
    # The launch is done, whatever becomes of the first wake-ups: the tick repeats them.
    transaction.on_commit(partial(dispatch.wake, concerned), robust=True)
    return campaign


def _planned(campaign: Campaign, pairs: Sequence[Pair]) -> list[PlannedRun]:
    """Return the runs in the order in which they are to have their turn, and note on the campaign how long all take."""
    occupied = occupancy(campaign.plan_version_id)
    if occupied.is_background:
        campaign.planned_seconds = campaign.lower_bound_seconds = occupied.seconds
        return [PlannedRun(pair.pk, None, ()) for pair in pairs]
    resources = resources_of(pairs)
    jobs = [Job(pair.pk, resources[pair.pk], occupied.seconds, occupied.is_exclusive) for pair in pairs]
    placed = arranged(jobs)
    campaign.planned_seconds = makespan_seconds(jobs, placed)
    campaign.lower_bound_seconds = lower_bound_seconds(jobs)
    now = timezone.now()
    return [PlannedRun(job.key, now + timedelta(seconds=job.start_seconds), resources[job.key]) for job in placed]


@transaction.atomic
def run_cancel(*, run: Run) -> bool:
    """Ask for a run's cancellation: at once when pending, within a second when running; False when it was final."""
    return endings.cancel([run.pk]) > 0


@transaction.atomic
def campaign_cancel(*, campaign: Campaign) -> int:
    """Cancel every open run of a campaign; return how many were."""
    return endings.cancel(list(campaign.runs.filter(state__in=OPEN_STATES).values_list("pk", flat=True)))


def _check_pairs(pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise LaunchError("pairs", _("Choose at least one pair to run the plan on."))
    for pair in pairs:
        rows = (pair, pair.source, pair.sink, pair.source.host, pair.sink.host, pair.environment)
        archived = next((row for row in rows if row.archived_at is not None), None)
        if archived is not None:
            what = kind_word(archived)
            raise LaunchError(
                "pairs",
                _("{pair} can't run: its {what} {archived} is archived. Restore it first.").format(
                    pair=pair, what=what, archived=archived
                ),
            )
        if pair.source.host.is_synthetic or pair.sink.host.is_synthetic:
            raise LaunchError(
                "pairs", _("{pair} can't run: its hosts are synthetic, no engine answers there.").format(pair=pair)
            )
