"""Tests between two engines over a long wire: what is late is not lost."""

import pytest

from bench.truth.wire import build, wired

pytestmark = pytest.mark.needs("Rust", "network namespaces")

SIZES = {"request_size_bytes": 37, "response_size_bytes": 37}


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


def test_at_a_round_trip_above_a_second_no_transaction_of_udp_rr_is_lost():
    with wired(both="delay=600ms") as (between, _):
        metrics = between.measure("udp_rr", {"duration_seconds": 7, **SIZES})["metrics"]
    assert metrics["lost_packets"] == 0
    assert 4 <= metrics["transactions_per_second"] * 7 <= 6
    # Percentiles and extremes come from classes of the histogram.
    assert 1.19 <= metrics["latency_min_seconds"] < 1.25


def test_a_path_that_grows_long_loses_nothing_and_what_it_loses_is_counted_exactly():
    with wired(both="delay=5ms", is_logged=True) as (between, wire):
        wire.change("delay=5ms+700ms@2s", way="forward")
        wire.start()
        metrics = between.measure("udp_rr", {"duration_seconds": 5, **SIZES})["metrics"]
        assert metrics["lost_packets"] == 0
        assert metrics["latency_max_seconds"] > 0.7
        wire.change("delay=5ms,loss=1/20", way="forward")
        metrics = between.measure("udp_rr", {"duration_seconds": 3, **SIZES})["metrics"]
        wire.end()
        lost = [packet for packet in wire.packets("forward", "udp", 37) if packet.fate == "lost"]
    assert len(lost) - 1 <= metrics["lost_packets"] <= len(lost)
    assert lost
