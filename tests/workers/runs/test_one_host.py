"""One host alone, whole: launched, measured by a real engine, its series, its pages; nothing goes to a sink."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from benchweb.hosts.pairs import pair_of_host
from benchweb.plans.services import one_off_version
from benchweb.results.models import Result, Series
from benchweb.runs.models import Reservation, Run, State
from benchweb.runs.services import launch_version
from tests.factories import make_endpoint, make_run, make_user
from tests.processes import Engine
from tests.workers.runs.real_runs import ended, pair_of

pytestmark = pytest.mark.django_db(transaction=True)
MEMORY: dict[str, object] = {
    "kind": "memory_bandwidth",
    "params": {"array_bytes": 4 * 2**20, "passes": 3, "kernel": ["memcpy", "triad"]},
}
DISK = {"pattern": ["randread", "randrw"], "file_size_bytes": 2**22, "duration_seconds": 0.3, "depth": 2}


def disk_steps(method: str) -> dict[str, object]:
    return {"kind": "disk_io", "params": DISK | {"method": method}}


def of_one_host(engine: Engine, *steps: dict[str, object]) -> Run:
    endpoint = make_endpoint(
        host_name="alone", control_address=engine.control, token=engine.token, fingerprint=engine.fingerprint
    )
    version = one_off_version(name="host", steps=list(steps), repetitions=1, order="interleaved")
    return launch_version(version=version, pairs=[pair_of_host(endpoint)], user=None).runs.get()


def test_memory_and_disk_of_a_host_are_measured_without_a_second_one(
    worker: Callable[[], "subprocess.Popen[bytes]"],
    engine: Callable[..., Engine],
    tmp_path: Path,
    client: Client,
) -> None:
    worker()
    run = ended(
        of_one_host(engine(disk_dir=f"{tmp_path},any-filesystem"), MEMORY, disk_steps("auto"), disk_steps("native"))
    )
    assert (run.state, run.reason) == (State.FINISHED, "")
    # One host, held alone.
    assert [(each.exclusive, each.resource.host) for each in Reservation.objects.all()] == [(1, run.pair.source.host)]
    results = list(Result.objects.filter(trial__run=run).select_related("trial").order_by("trial__index"))
    memory, disks = results[:2], results[2:]
    assert all(result.metrics["memory_bytes_per_second"] > 0 for result in memory)
    assert all("same_host" not in result.flags and result.sink_facts is None for result in results)
    for result in disks:
        in_flight = result.metrics["iops"] * result.metrics["latency_mean_seconds"]
        assert ("littles_law" in result.flags) == (abs(in_flight / 2 - 1) > 0.05)
        assert ("read_iops" in result.metrics) == (result.trial.params["pattern"] == "randrw")
    # What fio measured and what the engine measured are series apart, as with imports.
    tools = [result.trial.params.get("tool") for result in disks]
    assert tools[2:] == [None, None] and tools[0] == tools[1] and tools[0] in ("fio", None)
    iops = Series.objects.filter(kind="disk_io", metric="iops", pair=run.pair)
    assert iops.count() == len({(result.trial.params["pattern"], result.trial.params.get("tool")) for result in disks})
    client.force_login(make_user("ada", "long enough a password"))
    page = client.get(f"/runs/{run.pk}").content.decode()
    assert "Memory bandwidth" in page and "alone" in page
    trial = client.get(f"/runs/{run.pk}/trials/3").content.decode()
    assert "Measured on" in trial and str(tmp_path) in trial
    assert client.get(f"/pairs/{run.pair_id}").status_code == 200


def test_a_disk_that_nobody_allowed_fails_with_what_to_do(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    worker()
    run = ended(of_one_host(engine(), disk_steps("native")))
    assert run.state == State.FAILED
    assert "start it with --disk-dir" in run.trials.first().reason  # type: ignore[union-attr]


def test_a_plan_of_both_measures_the_source_in_its_steps_of_one_host(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    stream = {"kind": "tcp_stream", "params": {"duration_seconds": 0.3}}
    run = ended(make_run(pair=pair_of(*engine_pair), steps=[stream, MEMORY]))
    assert (run.state, run.reason) == (State.FINISHED, "")
    assert {trial.kind for trial in run.trials.all()} == {"tcp_stream", "memory_bandwidth"}
