"""A test whose data all got lost is failed, in words, with its counts and with what explains it."""

import json
import subprocess
from typing import Any

import pytest

from bench.truth.ground.topology import SINK_ADDRESS, Link, Namespace
from bench.truth.ground.wire import build, wired

pytestmark = pytest.mark.needs("Rust", "network namespaces", "nftables")

TEST_FAILED = 5


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


def failed(between: Link, kind: str, params: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Run a test that must fail; what it measured, and why it failed."""
    done = subprocess.run(
        between.words(kind, params, SINK_ADDRESS), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == TEST_FAILED, done.stderr
    return json.loads(done.stdout), done.stderr


def test_datagrams_into_a_smaller_mtu_fail_with_their_counts_and_both_mtus() -> None:
    with wired(both="mtu=1400,too_big=silent", is_control_apart=True) as (between, _):
        between.sink.run("ip", "link", "set", "data", "mtu", "1400")
        params = {"duration_seconds": 1, "message_size_bytes": 1472, "rate_bps": 1_000_000}
        result, why = failed(between, "udp_stream", params)
    assert "nothing arrived from source to sink: of " in why
    assert "1,500 bytes at data of the source" in why
    assert "1,400 bytes at data of the sink" in why
    metrics = result["metrics"]
    assert metrics["loss_ratio"] == 1.0
    assert metrics["lost_packets"] == metrics["sent_packets"] > 40
    assert metrics["received_packets"] == 0
    assert "nothing_arrived" in result["flags"]
    assert [(limit["by"], limit["direction"]) for limit in result["limits"]] == [("path", "forward")]


def drop_large_datagrams(space: Namespace) -> None:
    """Let a namespace take no datagram over 500 bytes, as behind a black hole; the set-up's are smaller."""
    space.rules("table inet t { chain c { type filter hook input priority 0; udp length > 500 drop; }; }")


def test_a_direction_without_data_fails_a_test_of_both() -> None:
    with wired(is_control_apart=True) as (between, _):
        drop_large_datagrams(between.source)
        params = {
            "duration_seconds": 1,
            "message_size_bytes": 1000,
            "rate_bps": 1_000_000,
            "direction": "bidirectional",
        }
        result, why = failed(between, "udp_stream", params)
    assert "nothing arrived from sink to source: of " in why
    assert result["metrics"]["reverse_received_packets"] == 0
    assert result["metrics"]["received_packets"] > 50


def test_requests_without_a_response_fail() -> None:
    with wired(is_control_apart=True) as (between, _):
        drop_large_datagrams(between.sink)
        params = {"duration_seconds": 1.5, "request_size_bytes": 1000, "response_size_bytes": 1}
        result, why = failed(between, "udp_rr", params)
    assert "nothing arrived: no transaction was completed" in why
    assert result["metrics"]["transactions_per_second"] == 0
    assert result["metrics"]["lost_packets"] > 0
    assert "nothing_arrived" in result["flags"]
    assert [limit["by"] for limit in result["limits"]] == ["path"]


def test_probes_without_a_reply_fail_and_are_not_limited_by_the_rate_asked_for() -> None:
    with wired(is_control_apart=True) as (between, wire):
        wire.change("block=icmp")
        result, why = failed(between, "ping", {"count": 5, "probe_interval_seconds": 0.05})
    assert "nothing arrived: none of the 5 probes was answered" in why
    assert result["metrics"]["sent_probes"] == result["metrics"]["lost_probes"] == 5
    assert [limit["by"] for limit in result["limits"]] == ["path"]


def test_a_flow_of_several_that_gets_through_nowhere_is_flagged() -> None:
    with wired(is_control_apart=True) as (between, _):
        params = {"duration_seconds": 1, "message_size_bytes": 1000, "rate_bps": 1_000_000, "flows": 2}
        assert "flow_without_data" not in between.measure("udp_stream", params)["flags"]
        # As one link of several that share a path's traffic: every other source port is lost.
        rule = "udp length > 500 udp sport & 1 == 1 drop"
        between.sink.rules(f"table inet t {{ chain c {{ type filter hook input priority 0; {rule}; }}; }}")
        flags = between.measure("udp_stream", {**params, "flows": 16})["flags"]
    assert "flow_without_data" in flags
