"""Which addresses a test's traffic has, and who answers a ping that was sent to another."""

import json
import subprocess
from typing import Any

import pytest

from bench.truth.ground.topology import SINK_ADDRESS, SOURCE_ADDRESS
from bench.truth.ground.wire import build, wired

pytestmark = pytest.mark.needs("Rust", "network namespaces", "nftables")

# Of the same network as the sink's.
OTHER_ADDRESS = SINK_ADDRESS.rsplit(".", 1)[0] + ".77"
PROBES = 5


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


def measured(words: list[str]) -> dict[str, Any]:
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_ping_that_another_address_answers_loses_nothing_and_names_it() -> None:
    with wired(is_control_apart=True) as (between, _):
        between.sink.rules(
            "table ip t { chain c { type filter hook output priority 0; "
            f"icmp type echo-reply ip saddr set {OTHER_ADDRESS}; }}; }}"
        )
        params = {"count": PROBES, "probe_interval_seconds": 0.1}
        result = measured(between.words("ping", params, SINK_ADDRESS))
    assert result["metrics"]["sent_probes"] == PROBES
    assert result["metrics"]["lost_probes"] == 0
    assert result["reply_addresses"] == [OTHER_ADDRESS]
    assert "replies_from_elsewhere" in result["flags"]


@pytest.mark.parametrize("kind", ["udp_stream", "tcp_rr", "ping"])
def test_addresses_of_both_ends_are_told(kind: str) -> None:
    with wired(is_control_apart=True) as (between, _):
        rate = {"rate_bps": 1_000_000} if kind == "udp_stream" else {}
        params = {"count": 3} if kind == "ping" else {"duration_seconds": 0.5, **rate}
        result = measured(between.words(kind, params, SINK_ADDRESS))
    assert result["addresses"] == {"family": "ipv4", "source": SOURCE_ADDRESS, "sink": SINK_ADDRESS}
    assert "reply_addresses" not in result


def test_lost_datagrams_are_told_in_the_intervals_in_which_they_were_lost() -> None:
    with wired(forward="loss=1/10", is_control_apart=True) as (between, _):
        params = {
            "duration_seconds": 2,
            "rate_bps": 4_000_000,
            "message_size_bytes": 1_000,
            "report_interval_seconds": 0.25,
        }
        result = measured(between.words("udp_stream", params, SINK_ADDRESS))
    intervals, metrics = result["intervals"], result["metrics"]
    for name in ("sent_packets", "lost_packets"):
        assert sum(each["metrics"].get(name, 0) for each in intervals) == metrics[name]
    assert sum(each["metrics"]["lost_packets"] > 0 for each in intervals) >= 6
    assert all(each["metrics"]["jitter_seconds"] > 0 for each in intervals)
    for end, packets in (("source", "tx_packets"), ("sink", "rx_packets")):
        window = next(each for each in result["hosts"][end]["interfaces"] if each["carries_test"])
        # On a busy machine the last may be an interval of one end alone.
        counted = sum(each["interfaces"].get(end, {packets: 0})[packets] for each in intervals)
        assert abs(counted - window[packets]) <= 0.02 * window[packets] + 20
