"""The newcomer's start: one command, a demo whose run ends by itself, and a stop that leaves nothing."""

import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.setup.processes import STOP_SECONDS, Up, children

RUN_SECONDS = 400
MEMORY_KB = 450_000
STEPS = {"tcp_stream": 6, "udp_stream": 3, "tcp_rr": 2}
REPETITIONS = 5
# Its run is a minute of waiting.
pytestmark = pytest.mark.begun_first


@pytest.fixture(scope="module")
def demo(state: Path) -> Iterator[Up]:
    """Start the demo once for this module; the last test stops it."""
    up = Up(state / "demo").start()
    up.wait_ready()
    yield up
    if up.process is not None and up.process.poll() is None:
        up.kill()


def test_the_console_tells_the_address_and_the_log_in(demo: Up) -> None:
    demo.wait_until(lambda: "Ctrl-C" in demo.output, "the end of what is told")
    assert f"http://127.0.0.1:{demo.port}/" in demo.output
    assert "Log in as 'demo' with the password 'demo' (this machine only)." in demo.output


def test_secrets_are_readable_by_their_owner_only(demo: Up) -> None:
    for name in ("secret-key", "demo-token", "engine-token", "runtime.json"):
        assert stat.S_IMODE((demo.home / name).stat().st_mode) == 0o600, name
    for name in ("", "sockets", "logs", "postgres"):
        assert stat.S_IMODE((demo.home / name).stat().st_mode) == 0o700, name


def runs_of_demo(demo: Up) -> list[dict[str, Any]]:
    """Return the runs that were measured: the sample's are there too, once it is made."""
    pairs = demo.json("/api/v1/pairs")["items"][:2]
    return [run for pair in pairs for run in demo.json(f"/api/v1/runs?pair={pair['id']}")["items"]]


def test_there_is_a_pair_in_each_direction_and_one_run_before_all_of_the_sample(demo: Up) -> None:
    pairs = demo.json("/api/v1/pairs")["items"]
    assert (pairs[0]["source"], pairs[0]["sink"]) == (pairs[1]["sink"], pairs[1]["source"])
    assert demo.json("/api/v1/runs")["items"][0]["pair"] == pairs[0]["id"]
    assert len(runs_of_demo(demo)) == 1


def test_the_demos_run_ends_by_itself_with_every_trial_and_its_metrics(demo: Up) -> None:
    run_id = demo.json("/api/v1/runs")["items"][0]["id"]
    give_up_at = time.monotonic() + RUN_SECONDS
    while (run := demo.json(f"/api/v1/runs/{run_id}"))["state"] in ("pending", "running"):
        assert time.monotonic() < give_up_at, run["state"]
        time.sleep(0.5)
    assert (run["state"], run["reason"]) == ("finished", "")
    kinds = [trial["kind"] for trial in run["trials"]]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {k: n * REPETITIONS for k, n in STEPS.items()}
    for trial in run["trials"]:
        metric = "transactions_per_second" if trial["kind"] == "tcp_rr" else "throughput_bps"
        assert trial["metrics"][metric] > 0


def test_the_sample_is_made_beside_and_is_listed_behind_what_was_measured(demo: Up) -> None:
    demo.wait_until(lambda: len(demo.json("/api/v1/pairs")["items"]) == 2 + 12, "the sample")
    demo.wait_until(lambda: not demo.children_named("sample"), "its maker's end")
    assert (demo.home / "stamps" / "sample").read_text() == "decided"
    measured = runs_of_demo(demo)[0]["id"]
    assert [run["id"] for run in demo.json("/api/v1/runs?limit=2")["items"]] == [measured, measured - 1]
    assert demo.json("/api/v1/alerts?state=recovered")["items"]


def test_the_whole_demo_stays_within_its_memory(demo: Up) -> None:
    total = sum(proportional_memory_kb(pid) for pid in family(demo.pid))
    assert total < MEMORY_KB


def test_a_dead_web_server_is_started_again(demo: Up) -> None:
    dead = demo.child("uvicorn")
    os.kill(dead, signal.SIGKILL)
    demo.wait_until(lambda: demo.children_named("uvicorn") not in ([], [dead]), "another web server")
    demo.wait_ready()
    assert "web ended with signal SIGKILL; starting it again in 0.5 s" in demo.output


def test_a_dead_engine_is_started_again_on_its_ports(demo: Up) -> None:
    before = (demo.home / "engines" / "a" / "listening.json").read_text()
    dead = demo.child("engines/a")
    os.kill(dead, signal.SIGKILL)
    demo.wait_until(lambda: demo.children_named("engines/a") not in ([], [dead]), "another engine")
    demo.wait_ready()
    assert (demo.home / "engines" / "a" / "listening.json").read_text() == before


def test_a_dead_database_is_started_again_and_nothing_is_lost(demo: Up) -> None:
    killed = demo.child("postgres")
    os.kill(killed, signal.SIGKILL)
    # Its sessions may live on for a moment, and answer that all is well.
    demo.wait_until(lambda: demo.children_named("postgres") not in ([], [killed]), "another database")
    demo.wait_ready()
    assert len(runs_of_demo(demo)) == 1


def test_a_second_up_is_refused_with_the_address_of_the_first(demo: Up) -> None:
    second = Up(demo.home, port=demo.port + 1)
    second.home = demo.home
    before = demo.output
    second.start()
    assert second.wait() == 1
    said = demo.output.removeprefix(before)
    assert f"benchweb is already running on {demo.home}: http://127.0.0.1:{demo.port}/ (process {demo.pid})" in said
    assert demo.status("/healthz") == 200


def test_sigterm_stops_everything_in_time_and_leaves_nothing(demo: Up) -> None:
    assert demo.terminate() < STOP_SECONDS
    assert demo.process is not None and demo.process.returncode == 0
    assert demo.orphans(patience_seconds=0) == []
    assert not (demo.home / "runtime.json").exists()
    assert not (demo.home / "sockets").exists()
    assert not (demo.home / "postgres" / "postmaster.pid").exists()


def test_started_again_it_goes_on_where_it_was_with_the_engines_on_their_ports(demo: Up) -> None:
    before = [(demo.home / "engines" / name / "listening.json").read_text() for name in "ab"]
    demo.start()
    demo.wait_ready()
    assert [(demo.home / "engines" / name / "listening.json").read_text() for name in "ab"] == before
    assert [run["state"] for run in runs_of_demo(demo)] == ["finished"]
    assert demo.terminate(signal.SIGINT) < STOP_SECONDS
    assert demo.orphans(patience_seconds=0) == []


def family(pid: int) -> list[int]:
    return [pid, *(member for child in children(pid) for member in family(child))]


def proportional_memory_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0
