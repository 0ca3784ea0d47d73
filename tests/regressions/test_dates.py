"""An alert began with the first run of what it reports, whatever outliers were seen before."""

import pytest

from benchweb.hosts.services import pair_create
from benchweb.regressions.judge import judge_run
from benchweb.regressions.merging import split
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.selectors import series_changes
from benchweb.results.nightly_summaries import night_of
from tests.factories import make_endpoint, make_environment, make_pair
from tests.regressions.judged import judged, night, quiet, run_of

pytestmark = pytest.mark.django_db
State = Alert.State


def dates() -> list[tuple[str, object, object]]:
    return list(Alert.objects.order_by("pk").values_list("state", "begun_at", "night"))


def test_an_outlier_just_before_a_fall_dates_it_no_earlier_than_its_segment() -> None:
    pair = make_pair()
    quiet(pair)
    runs = judged(pair, [0.962, 0.979] + [0.93] * 6, first=20)
    part = AlertSeries.objects.get()
    found = series_changes(part.series_id)
    assert found is not None
    (change, first_bad), *_ = found.changes
    assert (change.index, first_bad.run_id) == (22, runs[2].pk)
    assert part.first_bad_run_id == runs[2].pk
    assert dates() == [(State.OPEN, night(22), night_of(night(22)))]


def test_an_outlier_of_another_pair_that_was_not_measured_since_dates_no_later_fall() -> None:
    shared, environment = make_endpoint(), make_environment("mesh")
    outlier, falls = (pair_create(source=shared, sink=make_endpoint(), environment=environment) for _ in range(2))
    quiet([outlier, falls])
    judged(outlier, [0.9], first=20)
    judged(falls, [1.0, 1.0] + [0.8] * 5, first=20)
    assert dates() == [
        (State.SUSPECT, night(20), night_of(night(20))),
        (State.OPEN, night(22), night_of(night(22))),
    ]
    # It was no outlier after all: it has been bad since, for the same cause.
    for number in range(21, 26):
        assert judge_run(run_of(outlier, number, 0.9).pk)
    assert dates() == [(State.MERGED, night(20), night_of(night(20))), (State.OPEN, night(20), night_of(night(20)))]
    assert Alert.objects.get(state=State.OPEN).series.count() == 2


def test_a_split_part_has_the_date_of_its_own_fall() -> None:
    shared, environment = make_endpoint(), make_environment("mesh")
    first, second = (pair_create(source=shared, sink=make_endpoint(), environment=environment) for _ in range(2))
    quiet([first, second])
    for number in range(20, 28):
        judged(first, [0.8], first=number)
        judged(second, [0.8 if number >= 22 else 1.0], first=number)
    alert = Alert.objects.get(state=State.OPEN)
    assert alert.begun_at == night(20)
    later = AlertSeries.objects.get(series__pair=second).series_id
    new = split(alert_id=alert.pk, series=[later], by=None)
    assert (new.begun_at, Alert.objects.get(pk=alert.pk).begun_at) == (night(22), night(20))
