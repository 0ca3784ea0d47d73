"""A run as reports publish it, with figures worked out by hand."""

import pytest

from benchweb.charts.run.published import published_tables
from tests.charts.rows import stream, trial


def test_median_and_mean_stand_beside_each_other_in_both_notations() -> None:
    trials = stream(64, 1e9, 2e9, 6e9) + stream(1024, 8e9)
    (table,) = published_tables(trials)
    first = table.rows[0]
    assert (first.summary.n, first.summary.median, first.mean) == (3, 2e9, 3e9)
    assert [(each.label, each.value, each.unit) for each in first.settings] == [("Message size", 64, "B")]
    shown: list[tuple[str, object, object]] = [(each.equivalent.key, each.median, each.mean) for each in first.written]
    assert shown == [
        ("mbits", pytest.approx(2000.0), pytest.approx(3000.0)),
        ("sar", pytest.approx(244_140.625), pytest.approx(366_210.9375)),
    ]
    assert [row.settings[0].value for row in table.rows] == [64, 1024]


def test_a_partial_result_joins_neither_median_nor_mean() -> None:
    whole = trial("tcp_rr", metrics={"transactions_per_second": 100.0})
    partial = trial("tcp_rr", metrics={"transactions_per_second": 900.0}, state="failed")
    (table,) = published_tables([whole, partial])
    (row,) = table.rows
    assert (row.summary.n, row.summary.median, row.mean) == (1, 100.0, 100.0)
    # No rate of transactions is told without what was exchanged, the kind's own sizes included.
    assert [(each.label, each.value) for each in row.settings] == [("Request size", 1), ("Response size", 1)]
    assert [(each.equivalent.key, each.median) for each in row.written] == [("packets", 200.0), ("transactions", 100.0)]


def test_what_was_not_measured_has_no_row_and_a_kind_without_results_no_table() -> None:
    measured = trial("udp_stream", metrics={"loss_ratio": 0.25, "nic_rx_bytes_per_second": 2048.0})
    tables = published_tables([measured, trial("tcp_rr"), trial("udp_stream")])
    assert [table.kind.name for table in tables] == ["udp_stream"]
    assert [row.metric.key for row in tables[0].rows] == ["loss_ratio", "nic_rx_bytes_per_second"]
    assert [row.written[0].median for row in tables[0].rows] == [25.0, 2.0]


def test_rates_of_both_ends_are_told_apart_from_those_of_one() -> None:
    one = trial("tcp_stream", metrics={"throughput_bps": 1e9})
    both = trial("tcp_stream", metrics={"throughput_bps": 1e9, "send_throughput_bps": 0.9e9})
    assert [table.has_both_ends for trials in ([one], [both]) for table in published_tables(trials)] == [False, True]


def test_buffers_are_those_that_were_granted() -> None:
    asked, granted = 64 * 2**20, 4 * 2**20
    metrics = {"throughput_bps": 1e9, "source_send_buffer_bytes": float(granted)}
    measured = trial("tcp_stream", metrics=metrics, source_socket_buffer_bytes=asked)
    (table,) = published_tables([measured])
    assert [(row.metric.key, row.summary.median) for row in table.rows] == [
        ("throughput_bps", 1e9),
        ("source_send_buffer_bytes", granted),
    ]
