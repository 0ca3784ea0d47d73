"""A rate is kept in every second: after an outage, after the sender was stopped, and with messages larger than it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bench.truth.ground.topology import Link, process
from bench.truth.ground.wire import Wire, build, wired
from tests.requirements import require

pytestmark = pytest.mark.needs("Rust", "network namespaces")

RATE_BPS = 10_000_000
# Of any interval: what a sender makes up for, and what was on its way when the outage began.
MOST_SHARE = 1.1
STOP_SECONDS = 2.0
DISTURBED_AT_SECONDS = 2.0


@pytest.fixture(scope="module")
def rig() -> Iterator[tuple[Link, Wire]]:
    require("Rust", "network namespaces")
    build()
    with wired(is_control_apart=True, both="delay=5ms") as both:
        yield both


def measure(link: Link, kind: str, disturb: Callable[[subprocess.Popen[str]], None], **params: Any) -> dict[str, Any]:
    """Run a test and disturb it two seconds after its traffic began; its result."""
    words = link.words(kind, params)
    with process(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr and running.stdout
        # The first interval's line: the traffic has begun.
        first = running.stderr.readline()
        time.sleep(DISTURBED_AT_SECONDS)
        disturb(running)
        told, said = running.communicate(timeout=60)
    assert running.returncode == 0, first + said
    result: dict[str, Any] = json.loads(told)
    return result


def throughputs(result: dict[str, Any]) -> list[float]:
    return [interval["metrics"]["throughput_bps"] for interval in result["intervals"]]


def outage(wire: Wire, seconds: float) -> Callable[[subprocess.Popen[str]], None]:
    def disturb(_: subprocess.Popen[str]) -> None:
        wire.outage(begins=True)
        time.sleep(seconds)
        wire.outage(begins=False)

    return disturb


def stop(running: subprocess.Popen[str]) -> None:
    """Suspend the sender: the run's process and all that it started, which do the sending."""
    group = [running.pid, *children(running.pid)]
    for pid in group:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(STOP_SECONDS)
    for pid in group:
        os.kill(pid, signal.SIGCONT)


def children(pid: int) -> list[int]:
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
    return [each for child in map(int, listed.split()) for each in (child, *children(child))]


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_an_outage_is_not_followed_by_a_burst(rig: tuple[Link, Wire], direction: str) -> None:
    link, wire = rig
    result = measure(
        link, "tcp_stream", outage(wire, 1.3), duration_seconds=10, rate_bps=RATE_BPS, direction=direction,
        report_interval_seconds=0.5,
    )  # fmt: skip
    assert max(throughputs(result)) < MOST_SHARE * RATE_BPS, throughputs(result)
    assert min(throughputs(result)) == 0
    assert {"rate_not_reached", "kernel_pacing"} <= set(result["flags"])


@pytest.mark.parametrize("mode", ["send", "sendmmsg", "segmentation"])
def test_a_stopped_sender_of_datagrams_does_not_make_up_for_it(rig: tuple[Link, Wire], mode: str) -> None:
    link, _ = rig
    # A receive buffer of the kernel's default takes a few hundred of them at once.
    result = measure(
        link, "udp_stream", stop, duration_seconds=6, rate_bps=RATE_BPS, send_mode=mode, report_interval_seconds=0.5
    )
    assert result["metrics"]["lost_packets"] == 0
    assert max(throughputs(result)) < MOST_SHARE * RATE_BPS, throughputs(result)
    assert "rate_not_reached" in result["flags"]


def test_a_stopped_sender_of_a_stream_does_not_make_up_for_it(rig: tuple[Link, Wire]) -> None:
    link, _ = rig
    result = measure(link, "tcp_stream", stop, duration_seconds=6, rate_bps=RATE_BPS, report_interval_seconds=0.5)
    assert max(throughputs(result)) < MOST_SHARE * RATE_BPS, throughputs(result)
    assert "rate_not_reached" in result["flags"]


def test_a_stopped_ping_does_not_make_up_for_its_probes_at_once(rig: tuple[Link, Wire]) -> None:
    link, wire = rig
    sent = []

    def stop_and_count(running: subprocess.Popen[str]) -> None:
        before = wire.counts().of("forward", "icmp").offered
        stop(running)
        time.sleep(0.5)
        sent.append(wire.counts().of("forward", "icmp").offered - before)

    result = measure(link, "ping", stop_and_count, count=500, probe_interval_seconds=0.01)
    # 50 in half a second, and those of the moments around; 200 became due while it was stopped.
    assert 30 <= sent[0] <= 80
    assert (result["metrics"]["sent_probes"], result["metrics"]["lost_probes"]) == (500, 0)
    assert "rate_not_reached" in result["flags"]


def test_a_message_of_eight_seconds_of_the_rate_is_sent_in_pieces(rig: tuple[Link, Wire]) -> None:
    link, _ = rig
    params = {"duration_seconds": 5, "rate_bps": 1_000_000, "message_size_bytes": 1 << 20}
    result = link.measure("tcp_stream", params)
    assert result["metrics"]["throughput_bps"] == pytest.approx(1e6, rel=0.01)
    assert max(throughputs(result)) < MOST_SHARE * 1e6
    assert "messages_cut" in result["flags"]
    assert "rate_not_reached" not in result["flags"]
