"""Predict what a campaign of a schedule would occupy, from its start on; nothing is launched."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchweb.catalog.reasons import Reason
from benchweb.catalog.translation import reason_text
from benchweb.hosts.models import Pair
from benchweb.plans.models import PlanVersion
from benchweb.runs.models import Campaign
from benchweb.runs.placement.meshes import Job, Placed, arranged, lower_bound_seconds, makespan_seconds
from benchweb.runs.queueing.occupancy import occupancy_of, uplinks_of

# Beyond so many runs the bound is taken for the length: a mesh meets it, and saving a schedule stays quick.
EXACT_RUNS = 5_000

Span = tuple[float, float]


@dataclass
class OccupiedResources:
    """Numbers for hosts and uplinks, the same for all forecasts that are compared, and their names."""

    numbers: dict[int | str, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def of(self, pair: Pair) -> tuple[int, ...]:
        """Return what a run of the pair occupies: its hosts first."""
        hosts = {host.machine_key: host for host in (pair.source.host, pair.sink.host)}
        numbers = [self._number(key, "host", hosts[key].name) for key in sorted(hosts)]
        return (*numbers, *(self._number(name, "uplink", name) for name in sorted(uplinks_of(pair))))

    def _number(self, key: int | str, what: str, name: str) -> int:
        if key not in self.numbers:
            self.names[len(self.numbers)] = reason_text(Reason(what, **{what: name}))
            self.numbers[key] = len(self.numbers)
        return self.numbers[key]


@dataclass(frozen=True)
class Forecast:
    """A campaign's runs with their starts, in seconds from its own; `spans` are when each resource is occupied.

    Runs that start together are one job; in rounds each job has its turn in every one, `round_seconds` apart.
    """

    runs: int
    # From a run's start to its end, and for how long it has its resources at once.
    run_seconds: float
    turn_seconds: float
    rounds: int
    round_seconds: float
    is_exclusive: bool
    is_background: bool
    hosts: int
    host_seconds: float
    jobs: list[Job]
    placed: list[Placed]
    makespan_seconds: float
    lower_bound_seconds: float
    spans: Mapping[int, list[Span]]
    # Too many runs to place them one by one: the spans reach from the campaign's start to its end.
    is_estimated: bool


def forecast(
    version: PlanVersion,
    pairs: Sequence[Pair],
    resources: OccupiedResources,
    arrangement: str = Campaign.Arrangement.RUNS,
) -> Forecast:
    """Predict a campaign of this version on the pairs, which come with their endpoints and hosts; no queries."""
    held = occupancy_of(version)
    occupied = [resources.of(pair) for pair in pairs]
    if arrangement == Campaign.Arrangement.TOGETHER and occupied:
        occupied = [tuple(sorted(set[int]().union(*occupied)))]
    hosts = [{pair.source.host_id, pair.sink.host_id} for pair in pairs]
    turn, rounds = held.turn_seconds(arrangement), held.rounds if arrangement == Campaign.Arrangement.ROUNDS else 1
    jobs = [
        Job(number, () if held.is_background else resources, turn, held.is_exclusive)
        for number, resources in enumerate(occupied)
    ]
    is_estimated = len(jobs) * rounds > EXACT_RUNS
    placed = [] if is_estimated else arranged(jobs)
    bound = rounds * lower_bound_seconds(jobs)
    makespan = bound if is_estimated else rounds * makespan_seconds(jobs, placed)
    round_seconds = makespan / rounds
    return Forecast(
        runs=len(pairs),
        run_seconds=(rounds - 1) * round_seconds + turn,
        turn_seconds=turn,
        rounds=rounds,
        round_seconds=round_seconds,
        is_exclusive=held.is_exclusive,
        is_background=held.is_background,
        hosts=len(set().union(*hosts)),
        host_seconds=held.seconds * sum(map(len, hosts)),
        jobs=jobs,
        placed=placed,
        makespan_seconds=makespan,
        lower_bound_seconds=bound,
        spans=_whole_spans(jobs, makespan) if is_estimated else _spans(jobs, placed, rounds, round_seconds),
        is_estimated=is_estimated,
    )


def joined_spans(spans: Sequence[Span], gap_seconds: float = 1e-6) -> list[Span]:
    """Join spans, ordered by their beginnings, that touch or leave no more than a gap."""
    merged: list[Span] = []
    for begins, ends in spans:
        if merged and begins <= merged[-1][1] + gap_seconds:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ends))
        else:
            merged.append((begins, ends))
    return merged


def _spans(jobs: Sequence[Job], placed: Sequence[Placed], rounds: int, round_seconds: float) -> dict[int, list[Span]]:
    job_of = {job.key: job for job in jobs}
    by_resource: dict[int, list[Span]] = defaultdict(list)
    for number in range(rounds):
        for run in placed:
            job, starts = job_of[run.key], run.start_seconds + number * round_seconds
            for resource in job.resources:
                by_resource[resource].append((starts, starts + job.seconds))
    return {resource: joined_spans(spans) for resource, spans in by_resource.items()}


def _whole_spans(jobs: Sequence[Job], makespan: float) -> dict[int, list[Span]]:
    return {resource: [(0.0, makespan)] for job in jobs for resource in job.resources}
