"""What a run occupies: for how long, against whom, and on which hosts and uplinks."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.plans.expansion import expanded
from benchweb.plans.models import PlanVersion
from benchweb.runs.models import Campaign, Resource


@dataclass(frozen=True)
class Occupancy:
    """How a run of a plan version holds its resources."""

    # The slots of all its trials with their pauses, repeated as often as a confidence may ask for.
    seconds: float
    is_exclusive: bool
    # Nothing but background trials: it runs beside anything, and needs no place in a queue.
    is_background: bool
    # How often each trial is repeated at most.
    rounds: int

    def turn_seconds(self, arrangement: str) -> float:
        """Return how long a run holds its resources at once: for all of its trials, or for a round of them."""
        return self.seconds / self.rounds if arrangement == Campaign.Arrangement.ROUNDS else self.seconds


@lru_cache(maxsize=10_000)
def occupancy(version_id: int) -> Occupancy:
    """Return what a run of a plan version occupies; versions never change, so each is asked for once a process."""
    return occupancy_of(PlanVersion.objects.get(pk=version_id))


def occupancy_of(version: PlanVersion) -> Occupancy:
    """Return what a run of this version, saved or not, occupies."""
    kinds = catalog().kinds
    trials = expanded(version.steps, version.repetitions, PlanVersion.Order.SEQUENTIAL)
    # A kind that has left the catalog fails its trial later; until then it is taken for exclusive.
    classes = {
        kinds[trial.kind].exclusivity_of(trial.params) if trial.kind in kinds else "exclusive" for trial in trials
    }
    seconds = sum(trial.slot_seconds for trial in trials if trial.kind in kinds)
    seconds += version.pause_seconds * len(trials)
    seconds *= version.maximum_repetitions / version.repetitions
    return Occupancy(
        seconds,
        is_exclusive="exclusive" in classes,
        is_background=classes <= {"background"},
        rounds=version.maximum_repetitions,
    )


def resources_of(pairs: Iterable[Pair]) -> dict[int, tuple[int, ...]]:
    """Return the resource ids of each pair by its id, making missing rows; pairs come with their hosts."""
    hosts = {pair.pk: machines_of(pair) for pair in pairs}
    uplinks = {pair.pk: uplinks_of(pair) for pair in pairs}
    by_host = _ids("host_id", set().union(*hosts.values()))
    by_uplink = _ids("uplink", set().union(*uplinks.values()))
    return {
        pair: (
            *(by_host[host] for host in sorted(hosts[pair])),
            *(by_uplink[uplink] for uplink in sorted(uplinks[pair])),
        )
        for pair in hosts
    }


def machines_of(pair: Pair) -> set[int]:
    """Return the ids of the hosts whose resources the pair takes: hosts that are one machine share one."""
    return {pair.source.host.machine_key, pair.sink.host.machine_key}


def uplinks_of(pair: Pair) -> set[str]:
    """Return the uplinks that traffic of the pair leaves by: none between hosts that share one."""
    source, sink = pair.source.host.uplink, pair.sink.host.uplink
    return {source, sink} - {""} if source != sink else set()


def _ids(field: str, values: set[int] | set[str]) -> dict[int | str, int]:
    known = dict(Resource.objects.filter(**{f"{field}__in": values}).values_list(field, "pk"))
    if missing := sorted(value for value in values if value not in known):
        Resource.objects.bulk_create([Resource(**{field: value}) for value in missing], ignore_conflicts=True)
        known = dict(Resource.objects.filter(**{f"{field}__in": values}).values_list(field, "pk"))
    return known
