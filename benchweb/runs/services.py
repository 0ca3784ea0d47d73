"""Launch and cancel runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import Permission, access_of
from benchweb.catalog import Kind, catalog
from benchweb.catalog.translation import reason_text
from benchweb.common.names import kind_word
from benchweb.common.refusals import RefusedWrite
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan, PlanVersion
from benchweb.runs.bulk import PlannedRun, write_runs
from benchweb.runs.models import OPEN_STATES, Campaign, Run
from benchweb.runs.placement.meshes import Job, arranged, lower_bound_seconds, makespan_seconds
from benchweb.runs.queueing import dispatch, endings
from benchweb.runs.queueing.occupancy import occupancy, resources_of
from benchweb.site.installation import QUIET, is_copy

# A launch of more runs than this asks first, naming the number: pairs ticked by mistake must not hold every host.
CONFIRM_ABOVE = 1_000
# Of so many sources each has a thread of one worker.
MOST_TOGETHER = 32


class LaunchError(RefusedWrite):
    """A refused launch: `field` names what is at fault (plan or pairs)."""


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
    arrangement: str = Campaign.Arrangement.RUNS,
) -> Campaign:
    """Launch the plan's latest version on the pairs: a campaign with a pending run per pair.

    Runs that have not begun by `start_before` end as nonstart. An engine that can't be reached or is busy is tried
    again `retries` times, with a pause. Whether so many runs are meant is the caller's to ask.
    """
    return launch_version(
        version=launchable_version(plan),
        pairs=pairs,
        user=user,
        start_before=start_before,
        retries=retries,
        retry_pause_seconds=retry_pause_seconds,
        arrangement=arrangement,
    )


def launchable_version(plan: Plan) -> PlanVersion:
    """Return the version that a launch of the plan takes: its latest; raise LaunchError for an archived plan."""
    if plan.archived_at is not None:
        raise LaunchError("plan", _("Plan {plan} is archived: restore it, or choose another.").format(plan=plan.name))
    return plan.versions.order_by("-number")[0]


@transaction.atomic
def launch_version(
    *,
    version: PlanVersion,
    pairs: Sequence[Pair],
    user: User | None,
    start_before: datetime | None = None,
    retries: int = 0,
    retry_pause_seconds: float = 60,
    arrangement: str = Campaign.Arrangement.RUNS,
) -> Campaign:
    """Launch one plan version, as it was, on the pairs; raise Refused where the user may not run in one's environment.

    Without a user it is a schedule or a confirmation that launches.
    """
    if user is not None:
        access_of(user).demand(Permission.RUN, (pair.environment_id for pair in pairs))
    if is_copy():
        raise LaunchError("plan", reason_text(QUIET))
    _check_pairs(pairs)
    _check_sinks(pairs, version)
    _check_kinds(version)
    if arrangement not in Campaign.Arrangement.values:
        choices = ", ".join(Campaign.Arrangement.values)
        raise LaunchError("arrangement", _("Choose one of {choices}.").format(choices=choices))
    if arrangement == Campaign.Arrangement.TOGETHER:
        check_together(pairs, version)
    campaign = Campaign(
        plan_version=version,
        created_by=user,
        start_before=start_before,
        retries=retries,
        retry_pause_seconds=retry_pause_seconds,
        arrangement=arrangement,
    )
    planned = _planned(campaign, list({pair.pk: pair for pair in pairs}.values()))
    campaign.save()
    write_runs(campaign, planned, is_exclusive=occupancy(version.pk).is_exclusive)
    concerned = {resource_id for run in planned for resource_id in run.resource_ids}
    # The launch is done, whatever becomes of the first wake-ups: the tick repeats them.
    transaction.on_commit(partial(dispatch.wake, concerned), robust=True)
    return campaign


def _check_kinds(version: PlanVersion) -> None:
    """Refuse what another system reported: no engine can measure it again."""
    kinds = catalog().kinds
    if own := next((step["kind"] for step in version.steps if (kind := kinds.get(step["kind"])) and kind.is_own), ""):
        raise LaunchError(
            "plan", _("{kind} is reported by another system: no engine can measure it.").format(kind=kinds[own].label)
        )


def _planned(campaign: Campaign, pairs: Sequence[Pair]) -> list[PlannedRun]:
    """Return the runs in the order in which they are to have their turn, and note on the campaign how long all take."""
    occupied = occupancy(campaign.plan_version_id)
    if campaign.arrangement == Campaign.Arrangement.TOGETHER:
        campaign.planned_seconds = campaign.lower_bound_seconds = occupied.seconds
        return _planned_together(pairs)
    if occupied.is_background:
        campaign.planned_seconds = campaign.lower_bound_seconds = occupied.seconds
        return [PlannedRun(pair.pk, None, ()) for pair in pairs]
    resources = resources_of(pairs)
    seconds = occupied.turn_seconds(campaign.arrangement)
    turns = occupied.rounds if campaign.arrangement == Campaign.Arrangement.ROUNDS else 1
    jobs = [Job(pair.pk, resources[pair.pk], seconds, occupied.is_exclusive) for pair in pairs]
    placed = arranged(jobs)
    campaign.planned_seconds = turns * makespan_seconds(jobs, placed)
    campaign.lower_bound_seconds = turns * lower_bound_seconds(jobs)
    now = timezone.now()
    return [PlannedRun(job.key, now + timedelta(seconds=job.start_seconds), resources[job.key]) for job in placed]


def _planned_together(pairs: Sequence[Pair]) -> list[PlannedRun]:
    """Return the runs of sources that start together: the first one stands in the queues of all hosts."""
    now = timezone.now()
    all_of = sorted({resource_id for of_pair in resources_of(pairs).values() for resource_id in of_pair})
    return [PlannedRun(pair.pk, now, () if number else tuple(all_of)) for number, pair in enumerate(pairs)]


@transaction.atomic
def run_cancel(*, run: Run) -> bool:
    """Ask for a run's cancellation: at once when pending, within a second when running; False when it was final."""
    return endings.cancel([run.pk]) > 0


@transaction.atomic
def runs_cancel(*, run_ids: Sequence[int]) -> int:
    """Cancel several runs as `run_cancel` does; return how many were open."""
    return endings.cancel(run_ids)


@transaction.atomic
def campaign_cancel(*, campaign: Campaign) -> int:
    """Cancel every open run of a campaign; return how many were."""
    return endings.cancel(list(campaign.runs.filter(state__in=OPEN_STATES).values_list("pk", flat=True)))


def _check_sinks(pairs: Sequence[Pair], version: PlanVersion) -> None:
    """Refuse a test between two hosts on one host alone."""
    if fault := next(filter(None, (sink_fault(pair, version) for pair in pairs)), ""):
        raise LaunchError("pairs", fault)


def sink_fault(pair: Pair, version: PlanVersion) -> str:
    """Say why a plan version can't run on a pair whose ends are one host; empty where it can."""
    if not pair.is_one_host:
        return ""
    between = next((kind for kind in _kinds(version) if kind is not None and not kind.is_of_one_host), None)
    if between is None:
        return ""
    sentence = _("{kind} needs a source and a sink, and {pair} is one host alone: choose pairs of two.")
    return sentence.format(kind=between.label, pair=pair)


def check_together(pairs: Sequence[Pair], version: PlanVersion) -> None:
    """Refuse what can't start at one moment and be measured in one window."""
    count = len({pair.pk for pair in pairs})
    if not 2 <= count <= MOST_TOGETHER:
        message = _("Together are 2 to {most} pairs with one sink: choose as many.").format(most=MOST_TOGETHER)
        raise LaunchError("pairs", message)
    if len({pair.sink_id for pair in pairs}) > 1:
        raise LaunchError("pairs", _("Pairs that start together have one sink, and these have several."))
    if any(kind is not None and kind.is_of_one_host for kind in _kinds(version)):
        raise LaunchError("plan", _("The plan has tests of one host alone: those have no sink to start together at."))
    if version.confidence is not None:
        raise LaunchError("plan", _("The plan repeats until its results converge: each pair would repeat otherwise."))


def _kinds(version: PlanVersion) -> list[Kind | None]:
    return [catalog().kinds.get(step["kind"]) for step in version.steps]


def _check_pairs(pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise LaunchError("pairs", _("Choose at least one pair to run the plan on."))
    if fault := next(filter(None, map(pair_fault, pairs)), ""):
        raise LaunchError("pairs", fault)


def pair_fault(pair: Pair) -> str:
    """Say why nothing can run on a pair: something of it is archived or a sample; empty where something can."""
    rows = (pair, pair.source, pair.sink, pair.source.host, pair.sink.host, pair.environment)
    archived = next((row for row in rows if row.archived_at is not None), None)
    if archived is not None:
        sentence = _("{pair} can't run: its {what} {archived} is archived. Restore it first.")
        return sentence.format(pair=pair, what=kind_word(archived), archived=archived)
    if pair.source.host.is_synthetic or pair.sink.host.is_synthetic:
        return _("{pair} can't run: its hosts are a sample, no engine answers there.").format(pair=pair)
    return ""
