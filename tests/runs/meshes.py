"""Sets of jobs to place, and an independent check that none overlap."""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

from benchweb.runs.placement.meshes import Job, Placed

Length = Callable[[random.Random], float]

LENGTHS: dict[str, Length] = {
    "uniform": lambda source: source.uniform(1, 100),
    "exponential": lambda source: source.expovariate(0.1),
    "log-normal": lambda source: source.lognormvariate(0, 1),
    "two": lambda source: source.choice([10.0, 20.0]),
    "nearly equal": lambda source: source.uniform(10, 10.8),
}


def mesh(hosts: int, length: Length = lambda _: 13.0, *, seed: int = 1) -> list[Job]:
    """Return a run for every ordered pair of the hosts."""
    source = random.Random(seed)
    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    return [Job(key, pair, length(source)) for key, pair in enumerate(pairs)]


def sites(count: int, hosts: int, length: Length = lambda _: 1.0) -> list[Job]:
    """Return a mesh over sites of so many hosts: between two sites a run occupies the uplinks of both."""
    placed = [(host, 1_000 + host // hosts) for host in range(count * hosts)]
    source = random.Random(1)
    pairs = [(a, b) for a in placed for b in placed if a != b]
    return [
        Job(key, (a, b) if site_a == site_b else (a, b, site_a, site_b), length(source))
        for key, ((a, site_a), (b, site_b)) in enumerate(pairs)
    ]


def overlaps(jobs: Sequence[Job], placed: Sequence[Placed]) -> list[tuple[int, int]]:
    """Return the keys of jobs that are on one resource at once, though one of them is exclusive."""
    job_of = {job.key: job for job in jobs}
    on: dict[int, list[tuple[float, float, Job]]] = defaultdict(list)
    for each in placed:
        job = job_of[each.key]
        for resource in job.resources:
            on[resource].append((each.start_seconds, each.start_seconds + job.seconds, job))
    found = []
    for spans in on.values():
        spans.sort(key=lambda span: span[:2])
        for index, (_, until, first) in enumerate(spans):
            for start, _, second in spans[index + 1 :]:
                if start >= until - 1e-6:
                    break
                if first.exclusive or second.exclusive:
                    found.append((first.key, second.key))
    return found
