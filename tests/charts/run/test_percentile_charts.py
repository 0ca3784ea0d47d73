"""Percentiles side by side."""

from benchweb.charts.percentiles import percentile_names
from tests.charts.rows import charts, places, trial

LATENCY = {
    "latency_min_seconds": 1e-6,
    "latency_p50_seconds": 2e-6,
    "latency_p90_seconds": 3e-6,
    "latency_p99_seconds": 4e-6,
    "latency_p999_seconds": 5e-6,
    "latency_max_seconds": 6e-6,
}


def test_latency_is_drawn_over_the_percentiles_in_their_order() -> None:
    rows = [
        trial("tcp_rr", metrics=LATENCY),
        trial("tcp_rr", metrics={key: value * 3 for key, value in LATENCY.items()}),
    ]
    chart = charts(*rows)["tcp_rr-latency"]
    assert (chart.form, chart.x.scale) == ("percentiles", "category")
    assert chart.x.categories == ["min", "p50", "p90", "p99", "p99.9", "max"]
    (line,) = chart.series
    assert [x for x, _ in places(line)] == chart.x.categories
    assert [round(y * 1e6, 9) for _, y in places(line)] == [2, 4, 6, 8, 10, 12]
    assert (chart.y.label, chart.y.unit, line.label) == ("Latency", "s", "TCP request/response")


def test_each_swept_size_is_a_line() -> None:
    rows = [trial("tcp_rr", request_size_bytes=size, metrics=LATENCY) for size in (1024, 1)]
    assert [line.label for line in charts(*rows)["tcp_rr-latency"].series] == [
        "Request size 1 B",
        "Request size 1 KiB",
    ]


def test_a_percentile_that_was_not_measured_is_a_gap() -> None:
    metrics = LATENCY.copy()
    del metrics["latency_p999_seconds"]
    (line,) = charts(trial("tcp_rr", metrics=metrics))["tcp_rr-latency"].series
    assert [(point.x, point.reason) for point in line.points if point.y is None] == [("p99.9", "not measured")]


def test_names_are_what_sets_the_metrics_apart() -> None:
    assert percentile_names(["read_p50_seconds", "read_p9999_seconds"]) == {
        "read_p50_seconds": "p50",
        "read_p9999_seconds": "p99.99",
    }
    assert percentile_names(["rtt"]) == {"rtt": "rtt"}
    assert percentile_names(["a", "a_b"]) == {"a": "a", "a_b": "a_b"}
