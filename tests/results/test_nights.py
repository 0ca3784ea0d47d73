"""An environment's figures night by night: the median over its pairs, each by its last run of the night."""

from datetime import UTC, date, datetime, timedelta

import pytest

from benchweb.hosts.models import Pair
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.models import EnvironmentNights, NightFigure
from benchweb.results.series_summaries import environment_figures
from tests.factories import make_endpoint, make_pair
from tests.nights import DAY, NIGHT, measured

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 21)


def made() -> EnvironmentNights:
    while recents.sum_up():
        pass
    nights.make()
    return EnvironmentNights.objects.get()


def neighbours(count: int) -> list[Pair]:
    """Make pairs of one environment."""
    first = make_pair()
    others = [
        type(first).objects.create(source=make_endpoint(), sink=make_endpoint(), environment=first.environment)
        for _ in range(count - 1)
    ]
    return [first, *others]


@pytest.mark.parametrize(
    ("at", "night"),
    [
        (datetime(2026, 11, 20, 12, tzinfo=UTC), TODAY),
        (datetime(2026, 11, 21, 11, 59, 59, tzinfo=UTC), TODAY),
        (datetime(2026, 11, 21, 12, tzinfo=UTC), TODAY + timedelta(days=1)),
    ],
)
def test_a_night_is_from_noon_to_noon_and_named_by_its_end(at: datetime, night: date) -> None:
    assert nights.night_of(at) == night


def test_a_night_is_the_median_over_the_pairs_by_their_last_run_of_it() -> None:
    first, second, third = neighbours(3)
    measured(first, NIGHT, 10.0)
    measured(first, NIGHT + timedelta(hours=1), 40.0)
    measured(second, NIGHT, 20.0)
    measured(third, NIGHT, 30.0)
    measured(third, NIGHT - 2 * DAY, 7.0)
    row = made()
    # The night between gave nothing and has no entry.
    assert (row.nights, row.medians, row.pairs) == ([TODAY - 2 * DAY, TODAY], [7.0, 30.0], [1, 3])
    assert (row.night, row.most_pairs, row.stale_from) == (TODAY, 3, None)
    assert (row.low, row.high) == (20.0, 40.0)


def test_the_extremes_are_those_of_the_latest_night() -> None:
    first, second = neighbours(2)
    measured(first, NIGHT, 10.0)
    measured(second, NIGHT, 30.0)
    made()
    EnvironmentNights.objects.update(made_at=NIGHT - DAY)
    measured(first, NIGHT + DAY, 50.0)
    row = made()
    assert (row.medians, row.pairs, row.low, row.high) == ([20.0, 50.0], [2, 1], 50.0, 50.0)


def test_what_comes_within_a_minute_waits_and_then_only_its_night_is_made_anew() -> None:
    pair = make_pair()
    measured(pair, NIGHT - DAY, 5.0)
    made()
    EnvironmentNights.objects.update(medians=[4.0])
    measured(pair, NIGHT, 6.0)
    assert made().stale_from == TODAY
    EnvironmentNights.objects.update(made_at=NIGHT - DAY)
    row = made()
    assert (row.nights, row.medians, row.stale_from) == ([TODAY - DAY, TODAY], [4.0, 6.0], None)


def figures() -> list[tuple[object, ...]]:
    columns = ("night", "at", "runs", "pairs", "n", "median", "low", "high")
    return list(NightFigure.objects.order_by("of", "night").values_list(*columns))


def test_a_nights_figure_is_of_all_its_runs() -> None:
    first, second = neighbours(2)
    measured(first, NIGHT, 10.0, 12.0, 14.0)
    measured(first, NIGHT + timedelta(hours=1), 40.0)
    measured(second, NIGHT, 20.0)
    measured(second, NIGHT - 2 * DAY, 7.0)
    made()
    assert figures() == [
        (TODAY - 2 * DAY, NIGHT - 2 * DAY, 1, 1, 1, 7.0, 7.0, 7.0),
        (TODAY, NIGHT, 3, 2, 5, 20.0, 10.0, 40.0),
    ]


def test_a_night_that_got_another_run_is_summed_up_with_it_and_those_before_stay() -> None:
    pair = make_pair()
    measured(pair, NIGHT - DAY, 5.0)
    measured(pair, NIGHT, 6.0)
    made()
    NightFigure.objects.filter(night=TODAY - DAY).update(median=4.0)
    EnvironmentNights.objects.update(made_at=NIGHT - DAY)
    measured(pair, NIGHT + timedelta(hours=1), 8.0)
    made()
    assert [(night, runs, value) for night, _, runs, _, _, value, _, _ in figures()] == [
        (TODAY - DAY, 1, 4.0),
        (TODAY, 2, 7.0),
    ]
    # From the beginning, whatever was noted: what a history over years is told by.
    recents.rebuild()
    assert [(runs, value) for _, _, runs, _, _, value, _, _ in figures()] == [(1, 5.0), (2, 7.0)]


def test_what_a_kind_sweeps_has_nights_besides_what_overviews_show() -> None:
    measured(make_pair(), NIGHT, 0.5, metric="source_cpu_ratio")
    assert (made().metric, len(figures())) == ("source_cpu_ratio", 1)


def test_other_metrics_have_no_nights() -> None:
    measured(make_pair(), NIGHT, 5.0, metric="retransmits")
    while recents.sum_up():
        pass
    assert not EnvironmentNights.objects.exists()


def test_an_environment_is_told_by_the_setting_that_most_pairs_measure_and_then_by_the_best() -> None:
    first, second = neighbours(2)
    small, large = {"message_size_bytes": 64}, {"message_size_bytes": 65536}
    for pair, identity, value in ((first, small, 9.0), (first, large, 1.0), (second, large, 2.0), (first, {}, 99.0)):
        measured(pair, NIGHT, value, identity=identity)
    for pair in (first, second):
        measured(pair, NIGHT, 3.0, identity=small, metric="packets_per_second")
        measured(pair, NIGHT, 5.0, metric="packets_per_second")
        measured(pair, NIGHT, 0.3, identity=small, kind="tcp_rr", metric="latency_p99_seconds")
        measured(pair, NIGHT, 0.5, kind="tcp_rr", metric="latency_p99_seconds")
        # More of them, and better: but packet rates are those of UDP where it is measured.
    measured(first, NIGHT, 1.0, kind="udp_stream", metric="packets_per_second", identity={"flows": 2})
    while recents.sum_up():
        pass
    nights.make()
    told = {row.metric: row.identity for row in environment_figures(TODAY)}
    assert told == {"throughput_bps": large, "packets_per_second": {"flows": 2}, "latency_p99_seconds": small}
    assert environment_figures(TODAY + DAY) == []


def test_environments_are_told_by_a_setting_that_others_measure_too() -> None:
    one, other = make_pair(), make_pair()
    measured(one, NIGHT, 9.0, identity={"flows": 4})
    for pair, value in ((one, 5.0), (other, 1.0)):
        measured(pair, NIGHT, value, identity={"flows": 2})
    while recents.sum_up():
        pass
    nights.make()
    assert [row.identity for row in environment_figures(TODAY)] == [{"flows": 2}] * 2


def test_environments_whose_best_settings_are_close_are_told_by_one_setting() -> None:
    one, other = make_pair(), make_pair()
    small, large = {"message_size_bytes": 64}, {"message_size_bytes": 1400}
    for pair, of_small, of_large in ((one, 10.0, 20.0), (other, 10.2, 10.1)):
        for identity, value in ((small, of_small), (large, of_large)):
            measured(pair, NIGHT, value, identity=identity, kind="udp_stream", metric="packets_per_second")
    while recents.sum_up():
        pass
    nights.make()
    assert [row.identity for row in environment_figures(TODAY)] == [large, large]
