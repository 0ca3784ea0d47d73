"""Faults for a scene of simulated engines: each does its harm and mends it, as an operator's supervisor would."""

import random
import threading
import time

from celery import Celery

from bench.faults.scene import Scene
from benchweb.common.celery_client import QUEUE, broker_url
from benchweb.ops.running import processes

EXECUTE_TASK = "workers.tasks.execute_runs"
ENGINE_AWAY_SECONDS = (0.5, 9.0)


def worker_killed(scene: Scene, chance: random.Random) -> None:
    scene.restart("worker")


def beat_killed(scene: Scene, chance: random.Random) -> None:
    scene.rig.kill("beat")
    time.sleep(chance.uniform(0, 3))
    scene.start("beat")


def web_killed(scene: Scene, chance: random.Random) -> None:
    """Kill the web while it answers: the launch that it is busy with exists afterwards whole, or not at all."""
    launching = threading.Thread(target=scene.launch)
    launching.start()
    time.sleep(chance.uniform(0, 0.15))
    scene.restart("web")
    launching.join()


def valkey_killed_and_wiped(scene: Scene, chance: random.Random) -> None:
    """It keeps nothing on disk, so that its death wipes it."""
    scene.rig.kill("valkey")
    time.sleep(chance.uniform(0, 3))
    scene.start("valkey")


def postgres_restarted(scene: Scene, chance: random.Random) -> None:
    """Fast shutdown, as an upgrade of its package does; every other time a crash of all of its processes."""
    if chance.random() < 0.5:
        scene.rig.stop("postgres")
    else:
        processes.stop(scene.rig.running.pop("postgres"), signal_number=3, patience_seconds=10)
    time.sleep(chance.uniform(0, 2))
    scene.start("postgres")


def two_beats(scene: Scene, chance: random.Random) -> None:
    scene.start("beat-2")
    time.sleep(chance.uniform(2, 5))
    scene.rig.stop("beat-2")


def same_run_to_two_workers(scene: Scene, chance: random.Random) -> None:
    """Send each open run's wake-up ten times, with a second worker beside the first."""
    scene.start("worker-2")
    client = Celery("faults", broker=broker_url(scene.rig.environment["BENCHWEB_REDIS_URL"]), set_as_current=False)
    client.conf.update(task_default_queue=QUEUE)
    give_up_at = time.monotonic() + 8
    while (ids := scene.rig.rows("select id from runs_run where state in ('pending', 'running')")) and (
        time.monotonic() < give_up_at
    ):
        for (run_id,) in ids * 10:
            client.send_task(EXECUTE_TASK, args=[[run_id]], ignore_result=True)
        time.sleep(0.5)
    client.close()
    scene.rig.wait_until_final(60)
    scene.rig.stop("worker-2")


def engine_rebooted(scene: Scene, chance: random.Random) -> None:
    _engine_suffers(scene, chance, "reboot")


def worker_cut_from_engine(scene: Scene, chance: random.Random) -> None:
    _engine_suffers(scene, chance, "unreachable")


def engine_refuses(scene: Scene, chance: random.Random) -> None:
    _engine_suffers(scene, chance, "refuse")


def engine_cut_from_engine(scene: Scene, chance: random.Random) -> None:
    one = chance.randrange(scene.engine_count)
    other = (one + 1) % scene.engine_count
    scene.fleet.cut(one, other, is_cut=True)
    time.sleep(chance.uniform(*ENGINE_AWAY_SECONDS))
    scene.fleet.cut(one, other, is_cut=False)


def _engine_suffers(scene: Scene, chance: random.Random, fault: str) -> None:
    number = chance.randrange(scene.engine_count)
    scene.fleet.suffer(number, fault)
    time.sleep(chance.uniform(*ENGINE_AWAY_SECONDS))
    scene.fleet.suffer(number, "none")
