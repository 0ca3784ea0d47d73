"""Three hosts send to one at once, each over its own uplink: the sum is what the sink's interface counted."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench.regressions.mesh_network import LINK_MBIT, Mesh, mesh
from bench.truth.ground.topology import namespace
from bench.truth.ground.wire import build
from benchweb.charts.simultaneous.results import TogetherTrial, together_results
from benchweb.results.models import Result
from benchweb.runs.models import Campaign, State
from benchweb.runs.services import launch
from tests.factories import make_endpoint, make_pair, make_plan
from tests.processes import begun, stopped
from tests.requirements import require
from tests.workers.runs.real_runs import ended, running_trial

pytestmark = [pytest.mark.needs("Rust", "network namespaces", "tc tbf"), pytest.mark.django_db(transaction=True)]
# Two of the mesh's hosts have a direct link: the last one has none.
SOURCES, SINK = 3, 3
SECONDS = 4
MOST_APART = 0.01
# A count that is wrong is wrong each time; an engine that got no CPU for a while reads its counters late once.
REPETITIONS = 4
HEADER_BYTES = 14 + 20 + 32


@pytest.fixture
def hosts(tmp_path: Path, environment_of_test: dict[str, str]) -> Iterator[Mesh]:
    """Four hosts at a switch, with engines, and a worker in a namespace with a cable to each."""
    require("Rust", "network namespaces")
    build()
    with ExitStack() as stack:
        controller = stack.enter_context(namespace("controller"))
        made = mesh(stack, tmp_path, controller, name="incast", network="10.87.0", hosts=SOURCES + 1)
        celery = [sys.executable, "-m", "celery", "-A"]
        beat = [*celery, "workers.beat", "beat", "--loglevel", "INFO", "--pidfile", ""]
        worker = [*celery, "workers.app", "worker", "--loglevel", "INFO", "--pool", "threads"]
        of_beat, of_worker = {"DJANGO_SETTINGS_MODULE": ""}, {"CELERY_SKIP_CHECKS": "1"}
        starting = [
            begun(controller.words(*beat), environment_of_test | of_beat, ready=b"beat: Starting"),
            begun(controller.words(*worker), environment_of_test | of_worker, ready=b" ready."),
        ]
        for wait in starting:
            process: subprocess.Popen[bytes] = wait()
            stack.callback(stopped, process)
        yield made


def launched(hosts: Mesh) -> Campaign:
    ends = [
        make_endpoint(
            host_name=f"host-{number}",
            control_address=row["control"],
            data_address=row["data"],
            fingerprint=row["fingerprint"],
            token=row["token"],
        )
        for number, row in enumerate(hosts.rows)
    ]
    steps = [{"kind": "tcp_stream", "params": {"duration_seconds": SECONDS, "report_interval_seconds": 0.25}}]
    pairs = [make_pair(source=source, sink=ends[SINK]) for source in ends[:SOURCES]]
    return launch(plan=make_plan(steps=steps, repetitions=REPETITIONS), pairs=pairs, user=None, arrangement="together")


def results_of(campaign: Campaign) -> list[TogetherTrial]:
    return together_results(campaign.pk, after=0, count=10)


def closest(results: list[TogetherTrial]) -> TogetherTrial:
    """Return the trial whose sum is nearest to what the sink's interface counted."""
    return min(results, key=lambda result: abs((result.sum_per_counted or 0) - 1))


def test_the_sum_of_three_sources_is_what_the_sink_s_interface_counted(hosts: Mesh) -> None:
    before = hosts.spaces[SINK].frames("data")
    campaign = launched(hosts)
    assert [ended(run).state for run in campaign.runs.order_by("pk")] == [State.FINISHED] * SOURCES
    after = hosts.spaces[SINK].frames("data")
    results = results_of(campaign)
    assert [result.missing for result in results] == [[]] * REPETITIONS
    result = closest(results)
    assert result.is_window_held
    assert result.sum_per_counted == pytest.approx(1, abs=MOST_APART)
    # Each has an uplink of its own, and fills it.
    assert result.fairness == pytest.approx(1, abs=MOST_APART)
    assert result.total == pytest.approx(SOURCES * LINK_MBIT * 1e6, rel=0.1)
    # The kernel's own counters over all trials, read from outside.
    received, packets = (after[name] - before[name] for name in ("rx_bytes", "rx_packets"))
    documents = Result.objects.filter(trial__run__campaign=campaign).values_list("document__window__bytes", flat=True)
    assert sum(documents) == pytest.approx(received - packets * HEADER_BYTES, rel=MOST_APART)


def test_a_source_that_is_killed_leaves_the_others_their_results(hosts: Mesh) -> None:
    campaign = launched(hosts)
    first, killed, last = campaign.runs.order_by("pk")
    running_trial(killed, 1)
    hosts.engines[1].kill()
    assert [ended(run).state for run in (first, killed, last)] == [State.FINISHED, State.FAILED, State.FINISHED]
    disturbed, *without = results_of(campaign)
    for result in (disturbed, *without):
        assert [part.run for part in result.missing] == [killed.pk]
        assert result.total is None
        assert result.sum is not None
    # What it sent before it was killed is in the counters of the first trial alone.
    assert disturbed.sum_per_counted is None
    result = closest(without)
    assert result.sum_per_counted == pytest.approx(1, abs=MOST_APART)
    assert all(part.value == pytest.approx(LINK_MBIT * 1e6, rel=0.1) for part in result.parts if part.value)
