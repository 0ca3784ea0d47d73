"""Sparklines and changes: where values stand, what is left open, and what is said of them."""

import re
from datetime import UTC, datetime, timedelta

from benchweb.catalog import catalog
from benchweb.charts.sparkline import sparkline as shape_of
from benchweb.charts.sparkline import with_gaps
from benchweb.statistics import Deviation
from benchweb.web.tags.sparklines import run_deviation, sparkline


def test_values_stand_evenly_and_span_the_height() -> None:
    shape = shape_of([10, 20, 30], width=105, height=25)
    assert shape.lines == [[(2.5, 22.5), (52.5, 12.5), (102.5, 2.5)]]
    assert shape.last == (102.5, 2.5)


def test_no_line_crosses_a_gap_and_a_value_between_gaps_stands_alone() -> None:
    shape = shape_of([1, 2, None, 3, None, 4, 5], width=65, height=25)
    assert [len(line) for line in shape.lines] == [2, 2]
    assert shape.isolated == [(32.5, 11.0)]
    assert shape_of([1, 2, None], width=65, height=25).last is None


def test_each_missing_value_is_a_dot_on_the_ground() -> None:
    shape = shape_of([None, 1, None, None, 4, None], width=55, height=25)
    assert shape.gaps == [2.5, 22.5, 32.5, 52.5]
    assert shape.ground_y == 24.0
    assert shape_of([1, 2], width=65, height=25).gaps == []
    drawn = sparkline([1, 2, None, None, 4], "s")
    assert drawn.count('<path class="sparkline-gap"') == 1
    assert drawn.count("h0") == 2
    assert drawn.count("<polyline") == 1


def test_a_run_is_missing_by_the_rhythm_of_a_schedule_but_not_of_hand_launched_ones() -> None:
    begin = datetime(2026, 11, 1, 2, tzinfo=UTC)
    for step, missing in ((timedelta(hours=6), [None, None]), (timedelta(minutes=9), [])):
        ats = [begin + number * step for number in range(6)]
        assert with_gaps(ats, [1.0] * 6, ats[-1] + 3 * step) == [1.0] * 6 + missing


def test_noise_of_a_calm_series_stays_flat() -> None:
    ys = [y for _, y in shape_of([100.0, 100.5, 99.5], width=65, height=25).lines[0]]
    assert max(ys) - min(ys) == 2.0
    assert shape_of([7, 7], width=65, height=25).lines == [[(2.5, 12.5), (62.5, 12.5)]]
    assert {y for _, y in shape_of([0, 0], width=65, height=25).lines[0]} == {12.5}


def test_the_baseline_is_on_the_same_scale_and_bounds_are_shared() -> None:
    assert shape_of([20, 30], width=65, height=25, baseline=10).baseline_y == 22.5
    assert shape_of([20, 30], width=65, height=25, bounds=(0, 40)).lines == [[(2.5, 12.5), (62.5, 7.5)]]


def test_the_label_tells_the_figures_and_what_is_missing() -> None:
    told = re.search(r'aria-label="([^"]*)"', sparkline([1e9, None, 3e9, 2e9], "bit/s", label="a → b"))
    assert told is not None
    assert told[1] == "a → b: 3 values, 1.00 Gbit/s to 3.00 Gbit/s, latest 2.00 Gbit/s, 1 missing"
    assert "1 value, 1.00 s, latest missing" in sparkline([1, None], "s")
    assert "no values" in sparkline([])
    assert "&lt;b&gt;: 1 value" in sparkline([1], label="<b>")


def shown(ratio: float, metric: str, *, baseline: float = 100.0, score: float = 9.0) -> str:
    found = Deviation(baseline=baseline, noise=1.0, score=score, ratio=ratio, n_before=30)
    return run_deviation(found, catalog().kinds["udp_stream"].metrics[metric])


def test_a_change_is_told_by_arrow_sign_percentage_and_the_direction_that_is_better() -> None:
    assert shown(0.041, "throughput_bps") == '<span class="change change-good">▲ +4.1 %</span>'
    assert shown(-0.091, "throughput_bps") == '<span class="change change-bad">▼ −9.1 %</span>'
    assert shown(0.041, "jitter_seconds") == '<span class="change change-bad">▲ +4.1 %</span>'
    assert shown(-0.5, "nic_rx_bytes_per_second") == '<span class="change change-neutral">▼ −50.0 %</span>'
    assert shown(0.0, "throughput_bps") == '<span class="change change-neutral">0 %</span>'


def test_a_change_of_a_share_is_told_in_percentage_points() -> None:
    # Of 10.9 %: 13.4 %, which "+23 %" would be taken for 34 %.
    assert shown(0.23, "sink_cpu_ratio", baseline=0.109) == '<span class="change change-bad">▲ +2.5 points</span>'


def test_a_change_within_the_noise_is_grey_words() -> None:
    told = shown(0.004, "throughput_bps", score=0.1)
    assert 'class="change change-none" title="+0.40 %, within the noise"' in told
    assert ">no significant change<" in told
