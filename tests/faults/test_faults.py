"""One of each fault of bench/faults.py: whole benchwebs with simulated engines, and nothing lost, doubled or stuck.

Faults of the real engine's own processes are in tests/workers/test_real_engines.py; those that take network namespaces
are in bench/faults.py alone.
"""

import random
from collections.abc import Iterator

import pytest

from bench.rig import clocks, harms
from bench.rig.clocks import ClockScene
from bench.rig.scene import Harm, Round, Scene

ALL_FINISHED = {"finished": 6}


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    """Start PostgreSQL, Valkey, web, worker, beat and six simulated engines once for all faults."""
    with Scene() as scene:
        yield scene


def one_round(scene: Scene, harm: Harm, moment_seconds: float = 1.5) -> Round:
    found = scene.round(harm, moment_seconds, random.Random(f"{harm.__name__} in the tests"))
    assert found.broken == [], scene.rig.log("worker")
    return found


def test_without_a_fault_all_runs_finish_and_every_rule_holds(scene):
    assert one_round(scene, lambda scene, chance: None).states == ALL_FINISHED


def test_a_killed_worker_is_followed_by_the_next(scene):
    assert one_round(scene, harms.worker_killed).states == ALL_FINISHED


def test_a_killed_beat_holds_up_nothing_for_long(scene):
    assert one_round(scene, harms.beat_killed).states == ALL_FINISHED


def test_a_web_killed_while_it_launches_leaves_a_whole_campaign_or_none(scene):
    assert one_round(scene, harms.web_killed).states == ALL_FINISHED


def test_a_broker_that_loses_all_its_data_loses_no_run(scene):
    assert one_round(scene, harms.valkey_killed_and_wiped).states == ALL_FINISHED


def test_a_database_that_restarts_loses_no_run_and_no_result(scene):
    assert one_round(scene, harms.postgres_restarted).states == ALL_FINISHED


def test_two_beats_at_once_double_nothing(scene):
    assert one_round(scene, harms.two_beats).states == ALL_FINISHED


def test_two_workers_given_the_same_runs_measure_each_once(scene):
    assert one_round(scene, harms.same_run_to_two_workers).states == ALL_FINISHED


def test_an_engine_whose_host_reboots_costs_its_own_runs_at_most(scene):
    assert sum(one_round(scene, harms.engine_rebooted).states.values()) == 6


def test_a_worker_cut_from_an_engine_throws_nothing_away(scene):
    assert sum(one_round(scene, harms.worker_cut_from_engine).states.values()) == 6


def test_engines_cut_from_each_other_end_their_run_with_a_reason(scene):
    assert sum(one_round(scene, harms.engine_cut_from_engine).states.values()) == 6


def test_a_clock_that_jumps_an_hour_forth_and_back_loses_and_doubles_nothing():
    with ClockScene() as scene:
        assert one_round(scene, clocks.clock_stepped).states == ALL_FINISHED
        assert one_round(scene, clocks.clock_stepped).states == ALL_FINISHED
