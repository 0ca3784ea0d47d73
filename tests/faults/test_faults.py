"""One of each fault of bench.faults: whole benchwebs with simulated engines, and nothing lost, doubled or stuck.

Faults of the real engine's own processes are in tests/workers/runs/test_real_engines.py; those that take network
namespaces are in bench.faults alone.
"""

import random
import time
from collections.abc import Iterator

import pytest

from bench.faults import clocks, harms
from bench.faults.clocks import ClockScene
from bench.faults.scene import Harm, Round, Scene

pytestmark = [pytest.mark.begun_first, pytest.mark.needs("C compiler")]
ALL_FINISHED = {"finished": 6}


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    """Start PostgreSQL, Valkey, web, worker, beat and six simulated engines once for all faults."""
    with ClockScene() as scene:
        yield scene


def one_round(scene: Scene, harm: Harm, moment_seconds: float = 1.5) -> Round:
    found = scene.round(harm, moment_seconds, random.Random(f"{harm.__name__} in the tests"))
    assert found.broken == [], scene.rig.log("worker")
    return found


def test_without_a_fault_all_runs_finish_and_every_rule_holds(scene: Scene) -> None:
    assert one_round(scene, lambda scene, chance: None).states == ALL_FINISHED


def test_a_killed_worker_is_followed_by_the_next(scene: Scene) -> None:
    assert one_round(scene, harms.worker_killed).states == ALL_FINISHED


def test_a_killed_beat_holds_up_nothing_for_long(scene: Scene) -> None:
    assert one_round(scene, harms.beat_killed).states == ALL_FINISHED


def test_a_web_killed_while_it_launches_leaves_a_whole_campaign_or_none(scene: Scene) -> None:
    assert one_round(scene, harms.web_killed).states == ALL_FINISHED


def test_a_broker_that_loses_all_its_data_loses_no_run(scene: Scene) -> None:
    assert one_round(scene, harms.valkey_killed_and_wiped).states == ALL_FINISHED


def test_a_database_that_restarts_loses_no_run_and_no_result(scene: Scene) -> None:
    assert one_round(scene, harms.postgres_restarted).states == ALL_FINISHED


def test_two_beats_at_once_double_nothing(scene: Scene) -> None:
    assert one_round(scene, harms.two_beats).states == ALL_FINISHED


def test_two_workers_given_the_same_runs_measure_each_once(scene: Scene) -> None:
    assert one_round(scene, harms.same_run_to_two_workers).states == ALL_FINISHED


def test_an_engine_whose_host_reboots_costs_its_own_two_runs_at_most(scene: Scene) -> None:
    assert one_round(scene, harms.engine_rebooted).states["finished"] >= 4


def test_engines_cut_from_each_other_cost_the_run_between_them_at_most(scene: Scene) -> None:
    assert one_round(scene, harms.engine_cut_from_engine).states["finished"] >= 5


def test_what_was_measured_while_the_worker_was_cut_from_the_engine_is_taken_in_afterwards(scene: Scene) -> None:
    def cut_in_a_trial(scene: Scene, chance: random.Random) -> None:
        number = scene.fleet.engines.index(source_of_a_trial_under_way(scene))
        scene.fleet.suffer(number, "unreachable")
        # Longer than a worker looks for the events again, shorter than it takes to give the run up.
        time.sleep(6.5)
        scene.fleet.suffer(number, "none")

    # The other run of that host finds it away, and doesn't try again in this campaign.
    assert one_round(scene, cut_in_a_trial, moment_seconds=0).states["finished"] >= 5


def test_a_clock_that_jumps_an_hour_forth_and_back_loses_and_doubles_nothing(scene: Scene) -> None:
    # It comes last: a clock that stayed an hour ahead would be another fault of the tests after it.
    for _ in range(2):
        assert one_round(scene, clocks.clock_stepped).states == ALL_FINISHED


def source_of_a_trial_under_way(scene: Scene) -> str:
    query = """
        select source.control_address from runs_trial t join runs_run r on r.id = t.run_id
        join hosts_pair p on p.id = r.pair_id join hosts_endpoint source on source.id = p.source_id
        where t.state = 'running' and t.started_at < clock_timestamp() - interval '0.3 s' order by t.started_at desc
    """
    give_up_at = time.monotonic() + 120
    while not (found := scene.rig.rows(query)):
        assert time.monotonic() < give_up_at, "no trial began"
        time.sleep(0.05)
    return str(found[0][0])
