"""The rule of the queues, played through: what was planned is what happens, and nobody waits in vain."""

import random
from collections.abc import Callable, Sequence

import pytest

from benchweb.runs.placement.meshes import Job, arranged, lower_bound_seconds
from benchweb.runs.queueing.simulation import Played, Queued, played
from tests.runs.meshes import LENGTHS, mesh, sites


def queued(jobs: Sequence[Job], seconds_of: Callable[[Job], float] = lambda job: job.seconds) -> list[Queued]:
    job_of = {job.key: job for job in jobs}
    return [
        Queued(each.key, job.resources, each.start_seconds, job.seconds, seconds_of(job), job.exclusive)
        for each in arranged(jobs)
        for job in [job_of[each.key]]
    ]


def test_a_run_waits_for_those_planned_before_it_on_either_host() -> None:
    runs = [Queued(1, (1, 2), 0, 10, 10), Queued(2, (2, 3), 1, 10, 10), Queued(3, (3, 4), 2, 11, 11)]
    assert played(runs) == [Played(1, 0, 10), Played(2, 10, 20), Played(3, 20, 31)]


def test_a_run_overtakes_one_that_waits_anyway_if_it_is_over_by_then() -> None:
    runs = [Queued(1, (1, 2), 0, 10, 10), Queued(2, (2, 3), 1, 10, 10), Queued(3, (3, 4), 2, 10, 4)]
    assert played(runs)[1] == Played(3, 0, 4)
    longer = [*runs[:2], Queued(3, (3, 4), 2, 10.1, 4)]
    assert played(longer)[1:] == [Played(2, 10, 20), Played(3, 20, 24)]


def test_normal_runs_are_beside_each_other_and_not_beside_an_exclusive_one() -> None:
    runs = [
        Queued(1, (1, 2), 0, 10, 10, exclusive=False),
        Queued(2, (2, 3), 1, 10, 12, exclusive=False),
        Queued(3, (1, 3), 2, 10, 10),
        Queued(4, (3, 4), 3, 11, 11, exclusive=False),
    ]
    assert played(runs) == [Played(1, 0, 10), Played(2, 0, 12), Played(3, 12, 22), Played(4, 22, 33)]


def test_a_run_launched_later_but_planned_earlier_goes_before_those_that_still_wait() -> None:
    runs = [
        Queued(1, (1, 2), 0, 10, 10),
        Queued(2, (1, 2), 10, 10, 10),
        Queued(3, (1, 2), 6, 10, 10, launched_seconds=6),
    ]
    assert [each.key for each in played(runs)] == [1, 3, 2]


def test_a_run_without_resources_starts_at_once() -> None:
    assert played([Queued(1, (), 5, 1, 1, launched_seconds=3)]) == [Played(1, 3, 4)]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_runs_that_take_what_was_planned_begin_no_later_than_planned(lengths: str) -> None:
    for jobs in (mesh(11, LENGTHS[lengths]), sites(3, 4, LENGTHS[lengths])):
        start_of = {each.key: each.start_seconds for each in arranged(jobs)}
        happened = played(queued(jobs))
        assert len(happened) == len(jobs)
        assert all(each.from_seconds <= start_of[each.key] + 1e-6 for each in happened)


@pytest.mark.parametrize("hosts", [4, 5, 10, 50])
def test_a_mesh_whose_runs_take_up_to_a_tenth_less_than_planned_stays_within_the_bound(hosts: int) -> None:
    source = random.Random(hosts)
    runs = queued(mesh(hosts), lambda job: job.seconds * source.uniform(0.9, 1))
    assert max(each.until_seconds for each in played(runs)) <= lower_bound_seconds(mesh(hosts))
