"""Tests between two engines whose figures are those of the wire's own log and of the interface's counters."""

import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest

from bench.truth.delays.circuits import in_turn, summary
from bench.truth.ground.attempt import Attempt, attempt, begin
from bench.truth.ground.topology import SINK_ADDRESS, process, wait_for_port
from bench.truth.ground.wire import Packet, Wire, build, wired

pytestmark = pytest.mark.needs("Rust", "network namespaces")

REQUEST_BYTES = 37
SIZES = {"request_size_bytes": REQUEST_BYTES, "response_size_bytes": REQUEST_BYTES}
HTTP_PORT = 8080


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


@pytest.mark.parametrize("kind", ["udp_rr", "tcp_rr"])
def test_few_transactions_give_the_rate_of_the_round_trip_and_latencies_to_the_millisecond(kind: str) -> None:
    with wired(both="delay=300ms", is_control_apart=True, is_logged=True) as (between, wire):
        tried = attempt(between, kind, {"duration_seconds": 2.1, **SIZES})
        wire.end()
        circuits = in_turn(wire, kind[:3], REQUEST_BYTES)[:3]
    assert tried.code == 0, tried.stderr
    # Three are whole, and the fourth is under way when the time is over.
    assert tried.metric("transactions_per_second") == pytest.approx(1 / 0.6, rel=0.01)
    for name, truth in summary(circuits).items():
        # The machine may be busy with other tests: what the hosts add shows in the engine's figure alone.
        assert -1e-4 < tried.metric(f"latency_{name}_seconds") - truth < 5e-3, name


def test_the_window_of_a_stream_begins_when_its_first_datagram_arrives() -> None:
    with wired(both="delay=300ms", is_control_apart=True, is_logged=True) as (between, wire):
        tried = attempt(
            between, "udp_stream", {"duration_seconds": 2.5, "rate_bps": 1_000_000, "message_size_bytes": 1_000}
        )
        wire.end()
        first = next(wire.packets("forward", "udp", 1_000))
    assert tried.code == 0, tried.stderr
    started = datetime.fromisoformat(tried.result["window"]["started_at"]).timestamp()
    assert started == pytest.approx(first.departed / 1e9, abs=0.05)


def test_probes_lost_one_after_another_are_an_outage() -> None:
    with wired(both="delay=5ms", is_control_apart=True) as (between, wire):
        begun = begin(between, "ping", {"count": 50, "probe_interval_seconds": 0.1})
        wire.cut(after=2, seconds=1.6)
        tried = begun.ended()
    assert tried.code == 0, tried.stderr
    assert "outage" in tried.flags
    [outage] = tried.result["outages"]
    assert outage["until_seconds"] - outage["from_seconds"] == pytest.approx(1.6, abs=0.3)


def test_a_server_that_is_cut_off_for_a_while_is_an_outage() -> None:
    with wired(both="delay=5ms", is_control_apart=True) as (between, wire):
        words = [
            sys.executable,
            "-m",
            "http.server",
            str(HTTP_PORT),
            "--bind",
            SINK_ADDRESS,
            "--directory",
            "/proc/self/net",
        ]
        with process(between.sink.words(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            wait_for_port(between.sink, HTTP_PORT)
            params = {"url": f"http://{SINK_ADDRESS}:{HTTP_PORT}/dev", "duration_seconds": 7, "timeout_seconds": 1}
            begun = begin(between, "http_load", params)
            wire.cut(after=2, seconds=2)
            tried = begun.ended()
    assert tried.code == 0, tried.stderr
    assert "outage" in tried.flags
    [outage] = tried.result["outages"]
    # Connections that were cut off are tried again some time after the wire is whole.
    assert 1.7 < outage["until_seconds"] - outage["from_seconds"] < 4.5


# Tests until the word of the start is lost, mostly the second.
_MOST_TO_LOSE_IT = 10


def place_of_start(wire: Wire) -> tuple[int, bool]:
    """Return which of an ended wire's packets, from 1, was the first word of the start, and whether it was lost."""
    met = [packet for protocol in ("tcp", "udp", "icmp", "other") for packet in wire.packets("forward", protocol)]
    met.sort(key=lambda packet: packet.arrived)
    return next((place, packet.fate == "lost") for place, packet in enumerate(met, 1) if b'"start"' in packet.start)


def start_lost(kind: str, params: dict[str, Any], *, both: str) -> tuple[Attempt, list[Packet]]:
    """Run tests until the first word of the start is lost in one, and comes a time-out later; with what else came."""
    # Which packet the word is goes by the kind, and a little by the machine.
    every = 10_000
    for _ in range(_MOST_TO_LOSE_IT):
        with wired(both=both, forward=f"loss=1/{every}", is_control_apart=True, is_logged=True) as (pair, wire):
            tried = attempt(pair, kind, params)
            wire.end()
            assert tried.code == 0, tried.stderr
            every, is_lost = place_of_start(wire)
            packets = [packet for protocol in ("tcp", "udp") for packet in wire.packets("forward", protocol)]
        if is_lost:
            return tried, [packet for packet in packets if packet.fate == "delivered"]
    raise AssertionError("the word of the start was never lost")


@pytest.mark.parametrize("kind", ["udp_stream", "tcp_stream"])
def test_a_lost_word_of_the_start_makes_no_interval_of_zero_in_reverse(kind: str) -> None:
    params = {"direction": "reverse", "rate_bps": 2_000_000, "duration_seconds": 0.5, "report_interval_seconds": 0.1}
    tried, _packets = start_lost(kind, params, both="delay=5ms")
    throughputs = [interval["metrics"]["throughput_bps"] for interval in tried.result["intervals"]]
    assert len(throughputs) == 5
    assert 1_000_000 < min(throughputs) <= max(throughputs) < 3_000_000


@pytest.mark.parametrize("kind", ["udp_stream", "tcp_stream"])
def test_a_window_begins_with_the_first_data_when_the_word_of_the_start_is_lost(kind: str) -> None:
    params = {"message_size_bytes": 1_000, "rate_bps": 2_000_000, "duration_seconds": 2}
    tried, packets = start_lost(kind, params, both="delay=300ms")
    first = min(packet.departed for packet in packets if packet.payload_bytes == params["message_size_bytes"])
    started = datetime.fromisoformat(tried.result["window"]["started_at"]).timestamp()
    assert started == pytest.approx(first / 1e9, abs=0.05)
