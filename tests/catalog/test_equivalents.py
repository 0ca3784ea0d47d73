"""How reports write what we measure, with figures worked out by hand."""

import pytest
from django.utils.translation import override

from benchweb.catalog import catalog, equivalent_named, equivalents


@pytest.mark.parametrize(
    ("metric", "key", "value", "written", "unit"),
    [
        # 10,000 transactions a second are 10,000 packets there and 10,000 back.
        ("transactions_per_second", "packets", 10_000.0, 20_000.0, "pkt/s"),
        ("transactions_per_second", "transactions", 10_000.0, 10_000.0, "pkt/s"),
        ("throughput_bps", "mbits", 9_429_360_000.0, 9_429.36, "10⁶ bit/s"),
        # 8,388,608 bit/s are 1,048,576 bytes: 1,024 of sar's kB.
        ("throughput_bps", "sar", 8_388_608.0, 1024.0, "kB/s"),
        ("nic_rx_bytes_per_second", "sar", 23_662_867.0, 23_108.2685546875, "kB/s"),
        ("received_bytes_per_second", "wrk", 4_330_619.0, 4.130000114440918, "MB/s"),
        ("nic_rx_packets_per_second", "full", 394_321.04, 394_321.04, "pkt/s"),
        ("latency_mdev_seconds", "ms", 0.00002, 0.02, "ms"),
        ("jitter_seconds", "ms", 0.003666, 3.666, "ms"),
        ("loss_ratio", "percent", 0.7876, 78.76, "%"),
    ],
)
def test_a_metric_is_written_as_reports_do(metric: str, key: str, value: float, written: float, unit: str) -> None:
    found = equivalent_named(catalog().metrics[metric], key)
    assert found is not None
    assert found.of(value) == pytest.approx(written, rel=1e-12)
    assert found.unit == unit


def test_received_and_sent_bytes_of_an_interface_are_sars_two_columns() -> None:
    metrics = catalog().metrics
    keys = ("nic_rx_bytes_per_second", "source_nic_tx_bytes_per_second")
    assert [[each.label for each in equivalents(metrics[key])] for key in keys] == [["sar's rxkB/s"], ["sar's txkB/s"]]


def test_what_reports_write_as_we_do_has_no_equivalent() -> None:
    metrics = catalog().metrics
    for key in ("retransmits", "sent_packets", "source_cpu_ratio", "source_process_cpu_seconds"):
        assert equivalents(metrics[key]) == []


def test_a_way_that_a_metric_is_not_written_is_none() -> None:
    assert equivalent_named(catalog().metrics["loss_ratio"], "sar") is None


def test_the_notations_are_the_same_in_every_language() -> None:
    metrics = catalog().metrics.values()
    in_english = [[(each.key, each.factor) for each in equivalents(metric)] for metric in metrics]
    with override("zh-hans"):
        assert [[(each.key, each.factor) for each in equivalents(metric)] for metric in metrics] == in_english
