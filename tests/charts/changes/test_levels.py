"""Levels of a line with several changes, and the interval of one, worked out by hand."""

from datetime import datetime

import pytest

from benchweb.charts.changes.levels import Changes, changes_of_series, interval_of, levels_of
from benchweb.documents.charts import Measured
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.models import RunFigure
from tests.factories import make_pair
from tests.regressions.judged import LEVEL, judged, night, quiet

EVER = (night(0), night(100))


def rows() -> list[Measured]:
    figures = RunFigure.objects.order_by("at")
    return [Measured(row.at, row.median, row.n, row.low, row.high, row.run_id) for row in figures]


def at(number: int) -> str:
    return night(number).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def changes(shown: tuple[datetime, datetime] = EVER) -> Changes:
    return changes_of_series(list(RunFigure.objects.values_list("series", flat=True).distinct()), shown)


@pytest.fixture
def two_falls(db: None) -> None:
    """Measure 20 nights, eight at 70 %, eight as before, eight at half."""
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.7] * 8, first=20)
    judged(pair, [1.0] * 20, first=28)
    judged(pair, [0.5] * 8, first=48)


def test_a_level_after_a_change_ends_where_the_line_came_back(two_falls: None) -> None:
    found = changes()
    (series_id,) = found.parts
    levels = found.levels(series_id, rows())
    assert [(level.since, level.until) for level in levels] == [
        (at(0), at(19)),
        (at(20), at(27)),
        (at(28), at(47)),
        (at(48), at(55)),
    ]
    assert [level.y for level in levels] == pytest.approx([LEVEL, 0.7 * LEVEL, LEVEL, 0.5 * LEVEL], rel=0.01)
    assert {level.of for level in levels} == {f"series-{series_id}"}
    assert [mark.href for mark in found.marks([series_id])] == [f"/alerts/{each.alert.pk}" for each in found.alerts]
    assert len(found.alerts) == 2


def test_what_was_noise_has_no_level_and_what_is_of_another_time_neither(two_falls: None) -> None:
    Alert.objects.filter(pk=AlertSeries.objects.earliest("pk").alert_id).update(state=Alert.State.INVALID)
    found = changes()
    (series_id,) = found.parts
    assert [level.since for level in found.levels(series_id, rows())] == [at(18), at(48)]
    assert changes((night(0), night(10))).parts == {}


def test_an_interval_lies_around_the_level_after_in_the_metrics_unit() -> None:
    part = AlertSeries(before=200.0, after=150.0, interval_low_ratio=-0.3, interval_high_ratio=-0.2)
    assert interval_of(part) == pytest.approx((140.0, 160.0))
    part.interval_low_ratio = None
    assert interval_of(part) == (None, None)


def test_no_runs_have_no_levels(two_falls: None) -> None:
    assert levels_of(list(AlertSeries.objects.select_related("first_bad_run", "recovered_run")), []) == []
