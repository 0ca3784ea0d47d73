"""Runs that start together: the first of them leads, stands in the queues and holds the hosts of all."""

from dataclasses import dataclass

from benchweb.hosts.models import Pair
from benchweb.runs.models import Campaign, Run


@dataclass(frozen=True)
class SimultaneousRun:
    """A run by its id, and its state."""

    pk: int
    state: str


def together_with(run_id: int) -> list[SimultaneousRun]:
    """Return the runs that start together with a run, itself among them, the leader first; none of any other run."""
    runs = Run.objects.filter(campaign__runs=run_id, campaign__arrangement=Campaign.Arrangement.TOGETHER)
    return [SimultaneousRun(*row) for row in runs.order_by("pk").values_list("pk", "state")]


def leader_of(run: Run) -> Run:
    """Return the run that stands in the queues for a run: another one where it starts together with others."""
    if run.campaign.arrangement != Campaign.Arrangement.TOGETHER:
        return run
    return Run.objects.select_related("campaign", "pair").filter(campaign=run.campaign_id).order_by("pk")[0]


def is_led(run: Run) -> bool:
    """Tell whether another run stands in the queues for this one."""
    return leader_of(run).pk != run.pk


def pairs_held(run: Run) -> list[Pair]:
    """Return the pairs whose hosts a run holds: its own, and of those that start together all for their leader."""
    if run.campaign.arrangement != Campaign.Arrangement.TOGETHER or is_led(run):
        return [run.pair]
    return list(Pair.objects.filter(runs__campaign=run.campaign_id).select_related("source__host", "sink__host"))
