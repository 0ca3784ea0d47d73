"""Charts over a swept parameter, with exact values from hand-made results."""

from benchweb.documents.charts import Axis, ChartPoint
from tests.charts.rows import charts, places, stream, trial


def test_a_point_is_the_median_of_its_repetitions_with_their_extremes() -> None:
    chart = charts(*stream(64, 9.0, 11.0, 10.0), *stream(1024, 20.0, 20.0, 26.0))["tcp_stream-throughput"]
    assert chart.series[0].points == [
        ChartPoint(x=64.0, y=10.0, n=3, low=9.0, high=11.0, repetitions=[9.0, 11.0, 10.0]),
        ChartPoint(x=1024.0, y=20.0, n=3, low=20.0, high=26.0, repetitions=[20.0, 20.0, 26.0]),
    ]


def test_message_sizes_are_on_a_binary_axis_with_the_sizes_as_ticks() -> None:
    chart = charts(*stream(16384, 3.0), *stream(64, 1.0), *stream(1024, 2.0))["tcp_stream-throughput"]
    assert chart.x == Axis(label="Message size", unit="B", scale="log2", ticks=[64.0, 1024.0, 16384.0])
    assert chart.y == Axis(label="Throughput", unit="bit/s", from_zero=True)
    assert places(chart.series[0]) == [(64.0, 1.0), (1024.0, 2.0), (16384.0, 3.0)]


def test_many_sizes_are_labelled_by_evenly_spaced_powers_of_two() -> None:
    rows = [row for exponent in range(17) for row in stream(2**exponent, 1.0)]
    assert charts(*rows)["tcp_stream-throughput"].x.ticks == [2.0**exponent for exponent in range(0, 17, 2)]


def test_sent_is_dashed_in_the_colour_of_what_was_received() -> None:
    metrics = {"throughput_bps": 8.0, "send_throughput_bps": 10.0, "reverse_throughput_bps": 3.0}
    chart = charts(trial("udp_stream", message_size_bytes=64, metrics=metrics))["udp_stream-throughput"]
    received, sent, reverse = chart.series
    assert (received.label, received.dash) == ("Throughput, received", "solid")
    assert (sent.label, sent.dash) == ("Throughput, sent", "dashed")
    assert received.color == sent.color != reverse.color


def test_a_line_keeps_its_colour_over_charts_and_when_another_metric_appears() -> None:
    first = charts(*stream(64, 1.0))["tcp_stream-throughput"].series[0]
    metrics = {"throughput_bps": 1.0, "reverse_throughput_bps": 1.0, "packets_per_second": 5.0}
    later = charts(trial(message_size_bytes=64, metrics=metrics))
    assert later["tcp_stream-throughput"].series[0].color == first.color
    assert later["tcp_stream-packet_rate"].series[0].color == first.color


def test_another_swept_parameter_makes_a_line_for_each_of_its_values() -> None:
    chart = charts(*stream(64, 1.0, flows=8), *stream(64, 2.0, flows=1), *stream(1024, 3.0, flows=8))
    lines = chart["tcp_stream-throughput"].series
    assert [line.label for line in lines] == ["Throughput, received · Flows 1", "Throughput, received · Flows 8"]
    assert [places(line) for line in lines] == [[(64.0, 2.0)], [(64.0, 1.0), (1024.0, 3.0)]]
    assert len({line.id for line in lines}) == len({line.color for line in lines}) == 2


def test_a_default_that_one_step_leaves_out_is_the_same_place_as_the_value_itself() -> None:
    rows = [*stream(16384, 1.0), trial(metrics={"throughput_bps": 3.0})]
    assert places(charts(*rows)["tcp_stream-throughput"].series[0]) == [(16384.0, 2.0)]


def test_one_second_written_in_two_ways_is_one_setting() -> None:
    rows = [*stream(64, 1.0, duration_seconds=1), *stream(64, 3.0, duration_seconds=1.0)]
    chart = charts(*rows)["tcp_stream-throughput"]
    assert (chart.x.label, places(chart.series[0])) == ("Message size", [(64.0, 2.0)])


def test_a_sweep_over_flows_alone_is_drawn_over_flows() -> None:
    chart = charts(*stream(64, 1.0, flows=1), *stream(64, 2.0, flows=100))["tcp_stream-throughput"]
    assert (chart.title, chart.x.label, chart.x.scale) == ("Throughput by flows", "Flows", "log2")
    assert places(chart.series[0]) == [(1.0, 1.0), (100.0, 2.0)]


def test_a_sweep_that_holds_zero_is_on_a_linear_axis() -> None:
    rows = [*stream(64, 1.0, rate_bps=0), *stream(64, 2.0, rate_bps=10**9)]
    assert charts(*rows)["tcp_stream-throughput"].x.scale == "linear"


def test_a_sweep_over_words_is_drawn_over_categories() -> None:
    rows = [*stream(64, 1.0, congestion_control="reno"), *stream(64, 2.0, congestion_control="bbr")]
    chart = charts(*rows)["tcp_stream-throughput"]
    assert (chart.x.scale, chart.x.categories) == ("category", ["bbr", "reno"])
    assert places(chart.series[0]) == [("bbr", 2.0), ("reno", 1.0)]


def test_one_value_still_gives_its_point() -> None:
    chart = charts(*stream(64, 1.0))["tcp_stream-throughput"]
    assert chart.title == "Throughput by message size"
    assert places(chart.series[0]) == [(64.0, 1.0)]


def test_a_failed_repetition_is_told_beside_the_median_of_the_others() -> None:
    lost = trial(message_size_bytes=64, state="failed", reason="peer lost", metrics=None)
    chart = charts(*stream(64, 1.0, 2.0), lost)["tcp_stream-throughput"]
    assert chart.series[0].points == [
        ChartPoint(x=64.0, y=1.5, n=2, low=1.0, high=2.0, repetitions=[1.0, 2.0], reason="1 of 3 failed: peer lost")
    ]


def test_a_size_that_failed_is_a_gap_with_its_reason_and_never_zero() -> None:
    lost = trial(message_size_bytes=64, state="failed", reason="peer lost")
    chart = charts(lost, *stream(1024, 5.0))["tcp_stream-throughput"]
    assert chart.series[0].points[0] == ChartPoint(x=64.0, y=None, reason="failed: peer lost")


def test_a_partial_result_of_a_failed_trial_joins_no_median() -> None:
    partial = trial(message_size_bytes=64, state="failed", reason="peer lost", metrics={"throughput_bps": 99.0})
    assert places(charts(partial, *stream(64, 5.0))["tcp_stream-throughput"].series[0]) == [(64.0, 5.0)]


def test_a_metric_that_no_trial_measured_is_left_out() -> None:
    chart = charts(*stream(64, 1.0))
    assert list(chart) == ["tcp_stream-throughput"]
    assert [line.label for line in chart["tcp_stream-throughput"].series] == ["Throughput, received"]


def test_while_a_run_is_open_what_is_to_come_is_shown_as_pending() -> None:
    chart = charts(*stream(64, 1.0), trial(message_size_bytes=1024), is_open=True)
    assert list(chart) == ["tcp_stream-throughput", "tcp_stream-packet_rate", "tcp_stream-cpu"]
    points = chart["tcp_stream-throughput"].series[0].points
    assert [(point.reason, point.is_pending) for point in points] == [("", False), ("not measured yet", True)]


def test_a_size_of_which_one_repetition_failed_is_missing_and_not_yet_to_come() -> None:
    lost = trial(message_size_bytes=1024, state="failed", reason="peer lost")
    chart = charts(*stream(64, 1.0), lost, trial(message_size_bytes=1024), is_open=True)
    point = chart["tcp_stream-throughput"].series[0].points[1]
    assert (point.reason, point.is_pending) == ("1 of 2 failed: peer lost", False)


def test_a_run_that_measured_nothing_has_no_charts_in_the_end() -> None:
    lost = trial(message_size_bytes=64, state="failed", reason="engine unreachable")
    assert charts(lost) == {}


def test_the_table_leaves_its_rows_to_the_points_which_have_count_spread_and_reason() -> None:
    lost = trial(message_size_bytes=1024, state="failed", reason="peer lost")
    chart = charts(*stream(64, 90.0, 100.0, 110.0), lost)["tcp_stream-throughput"]
    keys = [column["key"] for column in chart.table.columns]
    assert keys == ["series", "x", "n", "median", "low", "high", "spread", "reason"]
    assert chart.table.rows is None
    figures = [[point.x, point.n, point.y, point.low, point.high, point.reason] for point in chart.series[0].points]
    assert figures == [[64.0, 3, 100.0, 90.0, 110.0, ""], [1024.0, 0, None, None, None, "failed: peer lost"]]


def test_the_subtitle_says_what_the_plan_fixed() -> None:
    chart = charts(*stream(64, 1.0, duration_seconds=1), *stream(128, 1.0, duration_seconds=1))
    assert chart["tcp_stream-throughput"].subtitle == "TCP stream · Duration 1 s"


def test_twenty_lines_take_every_colour_before_one_comes_again_with_another_marker() -> None:
    rows = [row for flows in range(1, 21) for row in [*stream(64, 1.0, flows=flows), *stream(128, 1.0, flows=flows)]]
    lines = charts(*rows)["tcp_stream-throughput"].series
    assert len(lines) == 20
    assert len({(line.color, line.marker) for line in lines}) == 20


def test_parameters_and_kinds_that_left_the_catalog_break_no_chart() -> None:
    rows = [*stream(64, 1.0, retired_setting=3), trial("retired_kind", metrics={"speed": 1.0})]
    assert list(charts(*rows)) == ["tcp_stream-throughput"]
