"""Tests between two engines over a long wire, or one that is cut for a while: what is late is not lost."""

import pytest

from bench.truth.ground.attempt import attempt, begin
from bench.truth.ground.wire import build, wired
from bench.truth.paths.thin import brought_again_bps
from bench.truth.rates.payload import payload_share

pytestmark = [pytest.mark.begun_first, pytest.mark.needs("Rust", "network namespaces")]

SIZES = {"request_size_bytes": 37, "response_size_bytes": 37}


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


def test_at_a_round_trip_above_a_second_no_transaction_of_udp_rr_is_lost() -> None:
    with wired(both="delay=600ms") as (between, _):
        metrics = between.measure("udp_rr", {"duration_seconds": 7, **SIZES})["metrics"]
    assert metrics["lost_packets"] == 0
    assert 4 <= metrics["transactions_per_second"] * 7 <= 6
    # Percentiles and extremes come from classes of the histogram.
    assert 1.19 <= metrics["latency_min_seconds"] < 1.25


def test_a_path_that_grows_long_loses_nothing_and_what_it_loses_is_counted_exactly() -> None:
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


def test_at_a_round_trip_above_three_seconds_a_test_is_set_up_and_gives_its_rate() -> None:
    with wired(both="delay=1550ms", is_control_apart=True) as (between, _):
        tried = attempt(between, "tcp_rr", {"duration_seconds": 4, **SIZES})
    assert tried.code == 0, tried.stderr
    assert tried.metric("latency_p50_seconds") == pytest.approx(3.1, rel=0.05)


def test_an_outage_ends_no_test_and_is_told_with_its_begin_and_end() -> None:
    with wired(both="delay=5ms", is_control_apart=True) as (between, wire):
        begun = begin(between, "udp_stream", {"duration_seconds": 9, "rate_bps": 1_000_000})
        wire.cut(after=2, seconds=3.5)
        tried = begun.ended()
    assert tried.code == 0, tried.stderr
    assert "outage" in tried.flags
    [outage] = tried.result["outages"]
    assert outage["until_seconds"] - outage["from_seconds"] == pytest.approx(3.5, abs=0.6)
    rates = [each["metrics"]["throughput_bps"] for each in tried.result["intervals"]]
    assert len(rates) == 9
    assert rates.count(0) >= 2
    assert rates[-1] > 0


def test_a_full_send_buffer_before_a_thin_link_ends_in_time_with_the_links_rate() -> None:
    settings = {"duration_seconds": 3, "source_socket_buffer_bytes": 4 << 20, "report_interval_seconds": 1}
    with wired(both="delay=10ms", forward="rate=250kbit,queue=1MB", is_control_apart=True) as (between, _):
        tried = attempt(between, "tcp_stream", settings)
    assert tried.code == 0, tried.stderr
    assert 0.9 < tried.metric("throughput_bps") / (250e3 * payload_share("IPv4")) < 1.01
    assert "drain_cut" in tried.flags
    spans = [
        (each["end_seconds"] - each["start_seconds"], each.get("drain", False)) for each in tried.result["intervals"]
    ]
    assert max(span for span, _ in spans) < 1.2
    assert [is_drain for _, is_drain in spans[:4]] == [False, False, False, True]


def test_what_a_long_queue_makes_tcp_send_in_vain_is_all_that_a_thin_link_lacks() -> None:
    settings = {"duration_seconds": 3, "flows": 32, "source_socket_buffer_bytes": 32 << 10}
    with wired(both="delay=10ms", forward="rate=4Mbit,queue=1MB", is_logged=True) as (between, wire):
        tried = attempt(between, "tcp_stream", settings)
        assert tried.code == 0, tried.stderr
        wire.end()
        again = brought_again_bps(wire, tried)
    link = 4e6 * payload_share("IPv4")
    assert again > 0.02 * link
    # At the end of so short a test the link is idle now and then, while the last flows wait for a time-out.
    assert tried.metric("throughput_bps") + again == pytest.approx(link, rel=0.03)


def test_a_path_on_which_large_packets_vanish_carries_a_test_and_is_named() -> None:
    with wired(both="mtu=1500,too_big=silent", mtu=9_000, is_control_apart=True) as (between, _):
        tried = attempt(between, "tcp_rr", {"duration_seconds": 1, **SIZES})
    assert tried.code == 0, tried.stderr
    assert {"black_hole", "reverse_black_hole"} <= set(tried.flags)
    assert tried.result["path_fault"] == (
        "packets over 1,472 bytes don't arrive, ICMP is filtered; "
        "packets over 1,472 bytes from the sink don't arrive, ICMP is filtered"
    )
    sizes = (tried.result["largest_payload_bytes"], tried.result["largest_reverse_payload_bytes"])
    assert sizes == (1_472, 1_472)


def test_a_path_that_carries_what_its_ends_send_has_no_black_hole() -> None:
    with wired(both="delay=1ms", is_control_apart=True) as (between, _):
        tried = attempt(between, "tcp_rr", {"duration_seconds": 1, **SIZES})
    assert (tried.code, tried.result.get("path_fault")) == (0, None), tried.stderr
