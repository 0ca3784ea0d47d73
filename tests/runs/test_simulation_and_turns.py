"""The simulation foretells what the dispatcher's own rule does."""

import random
from heapq import heappop, heappush

import pytest

from benchweb.runs.placement.meshes import Job, lower_bound_seconds
from benchweb.runs.queueing.simulation import Queued, played
from benchweb.runs.queueing.turns import Occupied, Waiting, turns
from tests.runs.meshes import LENGTHS, mesh, sites
from tests.runs.test_queue_simulation import queued


def dispatched(runs: list[Queued]) -> float:
    """Play the runs through with the dispatcher's rule, asked anew at every end; return the last end."""
    waiting = sorted(runs, key=lambda run: (run.planned_seconds, run.key))
    ends: list[tuple[float, int]] = []
    until: dict[int, tuple[Queued, float]] = {}
    now = 0.0
    while waiting or ends:
        occupied = [
            Occupied(resource, run.key, run.exclusive, expected - now)
            for run, expected in until.values()
            for resource in run.resources
        ]
        rows = [Waiting(run.key, run.resources, run.exclusive, run.slot_seconds) for run in waiting]
        started = set(turns(rows, occupied).start)
        for run in [run for run in waiting if run.key in started]:
            heappush(ends, (now + run.seconds, run.key))
            until[run.key] = (run, now + run.slot_seconds)
        waiting = [run for run in waiting if run.key not in started]
        now = ends[0][0]
        while ends and ends[0][0] <= now + 1e-6:
            del until[heappop(ends)[1]]
    return now


@pytest.mark.parametrize("name", ["equal", "uniform", "two", "sites", "mixed"])
def test_the_simulated_end_is_the_dispatchers_within_a_twentieth(name: str) -> None:
    source = random.Random(name)
    jobs = {
        "equal": mesh(8),
        "uniform": mesh(8, LENGTHS["uniform"]),
        "two": mesh(9, LENGTHS["two"]),
        "sites": sites(3, 3),
        "mixed": [Job(job.key, job.resources, job.seconds, source.random() > 0.3) for job in mesh(8)],
    }[name]
    runs = queued(jobs, lambda job: job.seconds * source.uniform(0.8, 1))
    simulated = max(each.until_seconds for each in played(runs))
    assert simulated == pytest.approx(dispatched(runs), rel=0.05)
    assert simulated <= lower_bound_seconds(jobs) * 1.1


@pytest.mark.parametrize("hosts", [4, 5, 10])
def test_a_mesh_as_planned_ends_at_its_bound_by_the_dispatchers_rule(hosts: int) -> None:
    assert dispatched(queued(mesh(hosts))) == pytest.approx(lower_bound_seconds(mesh(hosts)))
