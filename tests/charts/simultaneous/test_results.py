"""Sources that tested one sink together, as one result: the total, its parts, and what is missing."""

import pytest

from benchweb.charts.simultaneous.charts import shares_chart
from benchweb.charts.simultaneous.results import together_results
from benchweb.charts.simultaneous.summaries import together_tests
from benchweb.runs.models import Trial
from tests.charts.simultaneous.scene import incast, measured, runs_of

pytestmark = pytest.mark.django_db
RATES = [4e9, 2e9, 2e9]


def test_the_parts_add_up_to_the_total_and_to_what_the_sink_counted() -> None:
    campaign = incast(RATES)
    measured(campaign, RATES)
    (result,) = together_results(campaign.pk, after=0, count=10)
    # The warm-up isn't counted, nor what only some of them measured.
    assert [part.value for part in result.parts] == pytest.approx(RATES)
    assert [part.share for part in result.parts] == pytest.approx([0.5, 0.25, 0.25])
    assert result.total == pytest.approx(8e9)
    assert result.fairness == pytest.approx(8**2 / (3 * (16 + 4 + 4)))
    assert result.window is not None
    assert result.window.seconds == pytest.approx(3.5)
    assert result.sink is not None
    assert result.sink.interfaces == ["eth0"]
    assert result.sink.bits_per_second == pytest.approx(8e9 * 1514 / 1448)
    assert result.sink.payload_bps == pytest.approx(8e9)
    assert result.sum_per_counted == pytest.approx(1)
    assert result.is_counted
    # 3.5 of 4 seconds.
    assert not result.is_window_held


def test_sources_that_began_within_a_tenth_held_the_window() -> None:
    campaign = incast(RATES)
    measured(campaign, RATES, late=0.01)
    (result,) = together_results(campaign.pk, after=0, count=10)
    assert result.is_window_held


def test_other_traffic_at_the_sink_is_told_where_the_sum_is_not_what_it_counted() -> None:
    campaign = incast(RATES, repetitions=2)
    measured(campaign, RATES, index=1, others=0.005 * 8e9)
    measured(campaign, RATES, index=2, others=0.02 * 8e9)
    (test,) = together_tests(campaign.pk, most_trials=10)
    assert [trial.is_counted for trial in test.trials] == [True, False]
    assert test.apart == 1


def test_without_a_source_the_sum_is_no_total_and_the_others_keep_theirs() -> None:
    campaign = incast(RATES)
    measured(campaign, [4e9, None, 2e9])
    Trial.objects.filter(run=runs_of(campaign)[1]).update(started_at="2026-11-01T02:00:10Z")
    (result,) = together_results(campaign.pk, after=0, count=10)
    assert result.total is None
    assert result.sum == pytest.approx(6e9)
    assert [part.run for part in result.missing] == [runs_of(campaign)[1].pk]
    # The interface counted what the one that died had sent.
    assert result.sum_per_counted is None


def test_repetitions_of_all_sources_tell_the_total_and_others_what_is_missing() -> None:
    campaign = incast(RATES, repetitions=3)
    measured(campaign, RATES, index=1)
    measured(campaign, [4e9, 2e9, None], index=2)
    (test,) = together_tests(campaign.pk, most_trials=10)
    assert (test.is_whole, [trial.index for trial in test.trials]) == (True, [1, 2])
    assert test.sum is not None
    assert test.sum.n == 1
    assert test.sum.median == pytest.approx(8e9)
    assert [(source.missing, source.values and source.values.n) for source in test.sources] == [(0, 2), (0, 2), (1, 1)]
    assert test.sources[2].reason == "its engine is gone"


def test_each_source_s_share_is_drawn_over_time_beside_the_even_one() -> None:
    campaign = incast(RATES, repetitions=3)
    measured(campaign, RATES, index=1)
    measured(campaign, [4e9, 3e9, 3e9], index=2)
    measured(campaign, [4e9, 2e9, None], index=3)
    (test,) = together_tests(campaign.pk, most_trials=10)
    runs = [run.pk for run in runs_of(campaign)]
    chart = shares_chart(test, dict(zip(runs, "abc", strict=True)), 1)
    assert chart is not None
    assert [series.label for series in chart.series] == ["a", "b", "c"]
    # The three measured 3.5 s at one time, in four intervals each.
    assert [point.x for point in chart.series[0].points] == pytest.approx([0.875, 1.75, 2.625, 3.5])
    assert [point.y for point in chart.series[0].points] == pytest.approx([0.5] * 4)
    assert [line.y for line in chart.lines] == pytest.approx([1 / 3])
    assert "repetition 1 of 3" in chart.subtitle


def test_without_the_course_of_a_source_no_share_is_drawn() -> None:
    campaign = incast(RATES)
    measured(campaign, [4e9, None, 2e9])
    (test,) = together_tests(campaign.pk, most_trials=10)
    assert shares_chart(test, {run.pk: "a" for run in runs_of(campaign)}, 1) is None


def test_latencies_are_not_added_up() -> None:
    campaign = incast(RATES, steps=[{"kind": "ping", "params": {"count": 3}}])
    (result,) = together_results(campaign.pk, after=0, count=1)
    assert result.is_open
    assert (result.sum, result.fairness, result.sink) == (None, None, None)
