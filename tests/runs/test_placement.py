"""Placement: no host serves two at once, and the whole takes as long as it must or little more."""

import random

import pytest

from benchweb.runs.placement.meshes import Job, Placed, arranged, lower_bound_seconds, makespan_seconds
from tests.runs.meshes import LENGTHS, mesh, overlaps, sites


def ratio_of(jobs: list[Job]) -> float:
    placed = arranged(jobs)
    assert sorted(each.key for each in placed) == sorted(job.key for job in jobs)
    assert overlaps(jobs, placed) == []
    return makespan_seconds(jobs, placed) / lower_bound_seconds(jobs)


@pytest.mark.parametrize(
    ("hosts", "rounds"), [(2, 2), (3, 6), (4, 6), (5, 10), (10, 18), (11, 22), (50, 98), (200, 398)]
)
def test_a_full_mesh_takes_as_few_rounds_as_there_can_be(hosts: int, rounds: int) -> None:
    jobs = mesh(hosts, lambda _: 2.5)
    placed = arranged(jobs)
    assert makespan_seconds(jobs, placed) == lower_bound_seconds(jobs) == rounds * 2.5
    assert overlaps(jobs, placed) == []
    assert len({each.start_seconds for each in placed}) == rounds


def test_a_pair_and_its_reverse_are_half_a_campaign_apart() -> None:
    start_of = {each.key: each.start_seconds for each in arranged(mesh(10, lambda _: 1.0))}
    pairs = {job.key: job.resources for job in mesh(10)}
    key_of = {pair: key for key, pair in pairs.items()}
    assert {abs(start_of[key] - start_of[key_of[b, a]]) for key, (a, b) in pairs.items()} == {9.0}


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("hosts", [10, 11, 16, 25])
def test_runs_of_unequal_length_take_little_more_than_they_must(hosts: int, lengths: str) -> None:
    ratios = [ratio_of(mesh(hosts, LENGTHS[lengths], seed=seed)) for seed in range(5)]
    assert max(ratios) <= 1.1


@pytest.mark.parametrize(("hosts", "runs"), [(5, 40), (9, 100), (10, 60), (10, 200), (20, 300), (51, 2_000)])
def test_pairs_chosen_anyhow_take_as_few_rounds_as_there_can_be(hosts: int, runs: int) -> None:
    source = random.Random(hosts * runs)
    jobs = [Job(key, tuple(source.sample(range(hosts), 2)), 1.0) for key in range(runs)]
    assert ratio_of(jobs) <= 1.05


def test_a_mesh_with_gaps_and_two_meshes_beside_each_other_take_as_long_as_the_busiest_host() -> None:
    gaps = [job for job in mesh(50) if random.Random(job.key).random() > 0.1]
    other = [Job(1_000 + job.key, (job.resources[0] + 100, job.resources[1] + 100), 13.0) for job in mesh(7)]
    assert ratio_of(gaps) == 1
    assert lower_bound_seconds(mesh(10) + other) == 18 * 13
    assert ratio_of(mesh(10) + other) == 1


@pytest.mark.parametrize(("sources", "sinks"), [(1, 30), (5, 5), (7, 12), (30, 51)])
def test_from_some_hosts_to_others_takes_as_long_as_the_busiest_host(sources: int, sinks: int) -> None:
    jobs = [Job(key, (key % sources, 100 + key // sources), 1.0) for key in range(sources * sinks)]
    assert lower_bound_seconds(jobs) == sinks
    assert ratio_of(jobs) == 1


def test_endpoints_that_share_hosts_and_runs_within_a_host_are_placed_too() -> None:
    # Four hosts with three endpoints each: 9 runs from each host to each other and back, 6 within each.
    ends = [(host, endpoint) for host in range(4) for endpoint in range(3)]
    pairs = [(a, b) for a in ends for b in ends if a != b]
    jobs = [Job(key, tuple(sorted({a[0], b[0]})), 1.0) for key, (a, b) in enumerate(pairs)]
    assert lower_bound_seconds(jobs) == 3 * 18 + 6
    assert ratio_of(jobs) == 1


@pytest.mark.parametrize(("count", "hosts", "bound"), [(2, 5, 50), (3, 4, 96), (4, 5, 150), (5, 6, 360)])
def test_runs_between_sites_follow_each_other_on_the_uplinks_while_others_fill_in(
    count: int, hosts: int, bound: int
) -> None:
    jobs = sites(count, hosts)
    assert lower_bound_seconds(jobs) == bound
    assert ratio_of(jobs) == 1
    assert ratio_of(sites(count, hosts, LENGTHS["uniform"])) <= 1.05


def test_normal_runs_all_go_at_once_and_exclusive_ones_after_them() -> None:
    jobs = [Job(1, (1, 2), 5, exclusive=False), Job(2, (2, 3), 3, exclusive=False), Job(3, (3, 4), 10)]
    assert arranged(jobs) == [Placed(1, 0.0), Placed(2, 0.0), Placed(3, 3.0)]
    assert lower_bound_seconds(jobs) == 13


def test_a_mixture_of_classes_and_lengths_is_placed_without_overlap() -> None:
    source = random.Random(5)
    jobs = [
        Job(job.key, job.resources, job.seconds, source.random() > 0.3) for job in mesh(12, LENGTHS["uniform"], seed=3)
    ]
    assert ratio_of(jobs) <= 1.05


def test_the_bound_is_the_busiest_host_or_all_time_over_half_the_hosts() -> None:
    star = [Job(1, (1, 2), 10), Job(2, (1, 3), 20)]
    assert lower_bound_seconds(star) == 30
    triangle = [Job(1, (1, 2), 10), Job(2, (2, 3), 10), Job(3, (3, 1), 10)]
    assert lower_bound_seconds(triangle) == 30
    assert lower_bound_seconds([*triangle, Job(4, (4, 5), 50)]) == 50


def test_nothing_nowhere_and_no_time_are_placed() -> None:
    assert arranged([]) == [] and lower_bound_seconds([]) == 0 and makespan_seconds([], []) == 0
    assert arranged([Job(1, (), 5)]) == [Placed(1, 0.0)] and lower_bound_seconds([Job(1, (), 5)]) == 5
    assert arranged([Job(1, (1, 2), 0.0), Job(2, (1, 3), 0.0)]) == [Placed(1, 0.0), Placed(2, 0.0)]


def test_the_same_jobs_give_the_same_plan() -> None:
    jobs = mesh(16, LENGTHS["uniform"])
    assert arranged(jobs) == arranged(mesh(16, LENGTHS["uniform"]))
