"""Arrange runs that want the same hosts so that all of them together are over soon: pure, no ORM.

Runs of equal length go in the rounds of an edge colouring: a colour is a round, and in a round no host serves two. Runs
of unequal length go by a longest-first list schedule. What comes out is an order: a run begins when those planned
before it on its hosts are over (`benchweb.runs.queueing.simulation` plays that through).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, inf

from benchweb.runs.placement.circle import circle_order, connected
from benchweb.runs.placement.edge_colouring import coloured
from benchweb.runs.placement.list_schedule import listed

# Good enough: trying further orders costs time, and gains at most this much.
_CLOSE = 1.01
# How many jobs are placed in all while the best of several orders is looked for: under 2 s on a small machine.
_PATIENCE_JOBS = 80_000
# A list schedule looks at all idle places at every end; among more than these that takes too long.
_LISTED_RESOURCES = 1_000
# Sums of the same lengths differ in their last bits.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Job:
    """A run to place: what it occupies (each once: its hosts first, then uplinks) and for how long.

    Exclusive jobs share no resource with any other, normal ones do with normal ones; background is not placed at all.
    """

    key: int
    resources: tuple[int, ...]
    seconds: float
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class Placed:
    """A job's planned start, in seconds from the campaign's."""

    key: int
    start_seconds: float


def arranged(jobs: Sequence[Job]) -> list[Placed]:
    """Return every job a start at which its resources are free, ordered by start; the same jobs give the same plan."""
    free_at: dict[int, float] = defaultdict(float)
    placed = []
    exclusive_jobs = [job for job in jobs if job.exclusive and job.resources]
    # Normal jobs go first and all at once: the exclusive ones would wait for them anyway.
    for job in jobs:
        if not (job.exclusive and job.resources):
            placed.append(Placed(job.key, 0.0))
            for resource in job.resources:
                free_at[resource] = max(free_at[resource], job.seconds)
    starts = _best_starts(exclusive_jobs, free_at, lower_bound_seconds(jobs)) if exclusive_jobs else []
    placed += [Placed(job.key, start) for job, start in zip(exclusive_jobs, starts, strict=True)]
    return sorted(placed, key=lambda run: (run.start_seconds, run.key))


def makespan_seconds(jobs: Sequence[Job], placed: Sequence[Placed]) -> float:
    """Return the end of the last job."""
    seconds = {job.key: job.seconds for job in jobs}
    return max((run.start_seconds + seconds[run.key] for run in placed), default=0.0)


def lower_bound_seconds(jobs: Sequence[Job]) -> float:
    """Return what no order can be shorter than.

    That is the larger of the busiest resource's time (its exclusive jobs and the longest of its normal ones) and, among
    hosts that tests connect, all exclusive time over half the number of hosts, rounded down: of an odd number one is
    always left over. The same holds among uplinks.
    """
    exclusive: dict[int, float] = defaultdict(float)
    longest_normal: dict[int, float] = defaultdict(float)
    for job in jobs:
        for resource in job.resources:
            if job.exclusive:
                exclusive[resource] += job.seconds
            else:
                longest_normal[resource] = max(longest_normal[resource], job.seconds)
    busiest = max(
        (exclusive[resource] + longest_normal[resource] for resource in exclusive | longest_normal), default=0.0
    )
    longest = max((job.seconds for job in jobs), default=0.0)
    exclusive_jobs = [job for job in jobs if job.exclusive]
    hosts = [(job.resources[:2], job.seconds) for job in exclusive_jobs if len(job.resources) > 1]
    uplinks = [(job.resources[2:], job.seconds) for job in exclusive_jobs if len(job.resources) > 3]
    return max(busiest, longest, _crowded_seconds(hosts), _crowded_seconds(uplinks))


def _crowded_seconds(links: Sequence[tuple[Sequence[int], float]]) -> float:
    """Return the most that any connected set of resources needs with as many links at once as it has pairs."""
    root_of = connected(vertices for vertices, _ in links)
    seconds: dict[int, float] = defaultdict(float)
    for vertices, crowded in links:
        seconds[root_of[vertices[0]]] += crowded
    size = Counter(root_of.values())
    return max((seconds[root] / (size[root] // 2) for root in seconds), default=0.0)


def _best_starts(jobs: Sequence[Job], free_at: dict[int, float], bound: float) -> list[float]:
    best: list[float] = []
    best_end = inf
    for tried, starts in enumerate(_orders(jobs, free_at, bound), start=1):
        end = max(start + job.seconds for start, job in zip(starts, jobs, strict=True))
        if end < best_end:
            best, best_end = starts, end
        if best_end <= _CLOSE * bound or (tried + 1) * len(jobs) > _PATIENCE_JOBS:
            break
    return best


def _orders(jobs: Sequence[Job], free_at: dict[int, float], bound: float) -> Iterator[list[float]]:
    """Return the starts by one way after another; rounds are quick, and all there is to do for equal lengths."""
    vertices, resources = _vertices(jobs)
    seconds = [job.seconds for job in jobs]
    free = [free_at.get(resource, 0.0) for resource in resources]
    yield _in_rounds(vertices, seconds, free, bound)
    if len(resources) <= _LISTED_RESOURCES:
        yield listed(vertices, seconds, free)
        yield listed(vertices, seconds, free, longest_first=True)


def _in_rounds(
    vertices: Sequence[tuple[int, ...]], seconds: Sequence[float], free: Sequence[float], bound: float
) -> list[float]:
    """Let the jobs follow each other in the order of their colours, each as early as that order allows."""
    longest = max(seconds) or 1.0
    rounds = max(ceil(bound / longest - _ROUNDING), max(Counter(chain.from_iterable(vertices)).values(), default=0))
    colours = coloured(vertices, circle_order(vertices), rounds)
    starts = [0.0] * len(vertices)
    free_at = list(free)
    for job in sorted(range(len(vertices)), key=colours.__getitem__):
        start = max([free_at[vertex] for vertex in vertices[job]], default=0.0)
        starts[job] = start
        for vertex in vertices[job]:
            free_at[vertex] = start + seconds[job]
    return starts


def _vertices(jobs: Sequence[Job]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return each job's resources as numbers from 0, those with most to do first, and which resource each number is."""
    load: dict[int, float] = defaultdict(float)
    for job in jobs:
        for resource in job.resources:
            load[resource] += job.seconds
    number = {resource: index for index, resource in enumerate(load)}
    # Only with uplinks does it matter which come first: a job of two resources keeps its own order.
    wide = {job.resources for job in jobs if len(job.resources) > 2}
    ordered = {used: tuple(sorted(used, key=lambda resource: -load[resource])) for used in wide}
    vertices = [tuple(number[resource] for resource in ordered.get(job.resources, job.resources)) for job in jobs]
    return vertices, list(load)
