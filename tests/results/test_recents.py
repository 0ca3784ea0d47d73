"""A series' recent runs beside it: summed up once a run is final, and only what is worth a look is a change."""

from typing import Any

import pytest
from django.db import connection

from benchweb.hosts.models import Pair
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.models import EnvironmentNights, RecentMedians, RunFigure, Series
from benchweb.runs.models import Run, State
from tests.factories import make_pair
from tests.nights import DAY, NIGHT, add_values, measured

pytestmark = pytest.mark.django_db


def summed_up() -> None:
    while recents.sum_up():
        pass


def nightly(pair: Pair, *medians: float, **fields: Any) -> list[Run]:
    """Make a run a night, the last one at NIGHT, of three repetitions around each median."""
    first = NIGHT - (len(medians) - 1) * DAY
    return [
        measured(pair, first + number * DAY, value * 0.99, value, value * 1.01, **fields)
        for number, value in enumerate(medians)
    ]


def test_a_final_run_gives_its_median_and_the_latest_its_repetitions() -> None:
    runs = nightly(make_pair(), 100.0, 200.0)
    summed_up()
    recent = RecentMedians.objects.get()
    assert (recent.runs, recent.medians) == ([run.pk for run in runs], [100.0, 200.0])
    assert recent.ats == [NIGHT - DAY, NIGHT]
    assert (recent.at, recent.median, recent.n, recent.low, recent.high) == (NIGHT, 200.0, 3, 198.0, 202.0)
    assert (recent.baseline, recent.score) == (100.0, None)
    assert not Run.objects.filter(has_figures=False).exists()


def test_an_open_run_waits_and_nothing_is_summed_up_twice() -> None:
    pair = make_pair()
    run = measured(pair, NIGHT, 1.0, state=State.RUNNING)
    assert recents.sum_up() == 0
    assert not RecentMedians.objects.exists()
    add_values(run, pair, NIGHT, 3.0, 5.0)
    Run.objects.update(state=State.FAILED)
    assert [recents.sum_up(), recents.sum_up()] == [1, 0]
    assert RecentMedians.objects.get().medians == [3.0]


def test_a_run_that_is_summed_up_again_is_there_once() -> None:
    """As after an upgrade, of those that the version before summed up meanwhile."""
    nightly(make_pair(), 100.0, 200.0)
    summed_up()
    models = (RecentMedians, RunFigure)
    before = [list(model.objects.order_by("at").values()) for model in models]
    Run.objects.update(has_figures=False)
    assert recents.sum_up() == 2
    assert [list(model.objects.order_by("at").values()) for model in models] == before


def test_the_order_in_which_runs_end_does_not_matter() -> None:
    pair = make_pair()
    late = measured(pair, NIGHT, 2.0, 4.0)
    summed_up()
    early = measured(pair, NIGHT - DAY, 1.0)
    summed_up()
    recent = RecentMedians.objects.get()
    assert (recent.runs, recent.medians) == ([early.pk, late.pk], [1.0, 3.0])
    assert (recent.median, recent.n, recent.low, recent.high) == (3.0, 2, 2.0, 4.0)


def test_thirty_one_runs_are_kept() -> None:
    nightly(make_pair(), *range(1, 36))
    summed_up()
    recent = RecentMedians.objects.get()
    assert recent.medians == list(range(5, 36))
    assert recent.ats[0] == NIGHT - 30 * DAY


def test_a_score_is_the_difference_in_units_of_the_noise() -> None:
    nightly(make_pair(), *[10.0] * 8, 8.0, metric="packets_per_second")
    summed_up()
    assert RecentMedians.objects.get().score == pytest.approx(-2 / 0.075)


def test_loss_that_was_never_there_stands_out_from_a_tenth_of_a_per_cent_on() -> None:
    for loss in (0.0009, 0.02):
        nightly(make_pair(), *[0.0] * 8, loss, kind="udp_stream", metric="loss_ratio")
    summed_up()
    scores = RecentMedians.objects.order_by("median").values_list("score", flat=True)
    # More than four times the noise, which is a quarter of 0.1 %.
    assert list(scores) == pytest.approx([3.6, 80.0])


def test_made_anew_from_the_points_it_is_the_same_as_summed_up_run_by_run() -> None:
    first, second = make_pair(), make_pair()
    nightly(first, *range(1, 36))
    nightly(second, *[100.0] * 8, 90.0)
    measured(second, NIGHT, 0.001, kind="tcp_rr", metric="latency_p99_seconds")
    summed_up()
    nights.make()
    columns = [field.attname for field in RecentMedians._meta.fields]
    before = list(RecentMedians.objects.order_by("pk").values_list(*columns))
    figures = list(EnvironmentNights.objects.order_by("kind", "environment").values_list("nights", "medians"))
    assert recents.rebuild() == Series.objects.count()
    assert list(RecentMedians.objects.order_by("pk").values_list(*columns)) == before
    made = EnvironmentNights.objects.order_by("kind", "environment").values_list("nights", "medians")
    assert list(made) == figures


def test_a_final_run_leaves_a_figure_in_each_of_its_series() -> None:
    pair = make_pair()
    run, _later = nightly(pair, 100.0, 300.0)
    add_values(run, pair, NIGHT - DAY, 5.0, 7.0, metric="packets_per_second")
    summed_up()
    figures = RunFigure.objects.filter(run=run).order_by("series__pk")
    columns = ("series__metric", "at", "n", "median", "low", "high")
    assert list(figures.values_list(*columns)) == [
        ("throughput_bps", NIGHT - DAY, 3, 100.0, 99.0, 101.0),
        ("packets_per_second", NIGHT - DAY, 2, 6.0, 5.0, 7.0),
    ]
    assert RunFigure.objects.count() == 3


def test_figures_written_after_a_bulk_load_are_those_of_the_tick() -> None:
    pair = make_pair()
    nightly(pair, 100.0, 300.0)
    summed_up()
    columns = [field.attname for field in RunFigure._meta.concrete_fields]
    before = list(RunFigure.objects.order_by("at").values_list(*columns))
    RunFigure.objects.all().delete()
    Run.objects.update(has_figures=False)
    recents.write_figures()
    recents.write_figures()
    assert list(RunFigure.objects.order_by("at").values_list(*columns)) == before
    assert len(before) == 2


def test_an_open_run_has_no_figure_whatever_is_written() -> None:
    measured(make_pair(), NIGHT, 1.0, state=State.RUNNING)
    recents.write_figures()
    assert not RunFigure.objects.exists()


def test_whoever_sums_up_is_alone() -> None:
    measured(make_pair(), NIGHT, 1.0)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("select pg_advisory_lock(%s)", [nights._LOCK])
            assert recents.sum_up() == 0
            cursor.execute("select pg_advisory_unlock(%s)", [nights._LOCK])
    finally:
        other.close()
    assert recents.sum_up() == 1
