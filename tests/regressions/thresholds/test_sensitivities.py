"""From what on changes are told: of a plan, an environment, a metric; and beyond chance over a night."""

from collections.abc import Sequence

import pytest

from benchweb.hosts.models import Pair
from benchweb.regressions.judging.findings import SeriesFinding, beyond_chance
from benchweb.regressions.judging.histories import History, RunValue
from benchweb.regressions.judging.sensitivity import SeriesSensitivity as Applied
from benchweb.regressions.judging.sensitivity import sensitivities
from benchweb.regressions.models import Alert, Sensitivity, SeriesNoise
from benchweb.regressions.thresholds.sensitivities import (
    SensitivityScope,
    sensitivity_archive,
    sensitivity_create,
    sensitivity_restore,
    sensitivity_update,
)
from benchweb.regressions.transitions import AlertError
from benchweb.results.models import RunFigure, Series
from benchweb.runs.models import Run
from tests.factories import make_pair
from tests.regressions.judged import judged, night, quiet, run_of

pytestmark = pytest.mark.django_db
State = Alert.State


def said(scope: SensitivityScope, floor_ratio: float | None = None, noise_times: float | None = None) -> Sensitivity:
    return sensitivity_create(scope, floor_ratio=floor_ratio, noise_times=noise_times)


def applied() -> Applied:
    series = Series.objects.get()
    return sensitivities([series.pk])[series.pk]


def test_a_smaller_change_than_the_floor_of_its_environment_is_told_to_nobody() -> None:
    pair = make_pair()
    said(SensitivityScope(environment=pair.environment), floor_ratio=0.15)
    quiet(pair)
    judged(pair, [0.9] * 8, first=20)
    assert Alert.objects.count() == 0
    judged(pair, [0.7] * 8, first=28)
    assert Alert.objects.get().state == State.OPEN


def test_a_lower_floor_tells_of_what_is_usually_too_small() -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.983] * 10, first=20)
    assert Alert.objects.count() == 0
    said(SensitivityScope(kind="tcp_stream", metric="throughput_bps"), floor_ratio=0.01)
    judged(pair, [0.983], first=30)
    assert Alert.objects.get().state == State.OPEN


def test_a_plan_goes_before_an_environment_and_that_before_a_metric_each_value_by_itself() -> None:
    run = run_of(make_pair(), 0)
    assert applied() == Applied(0.02, 0.03, 4.0)
    said(SensitivityScope(metric="throughput_bps"), floor_ratio=0.04, noise_times=8.0)
    assert applied() == Applied(0.04, 0.04, 8.0)
    said(SensitivityScope(environment=run.pair.environment), floor_ratio=0.05)
    assert applied() == Applied(0.05, 0.05, 8.0)
    of_plan = said(SensitivityScope(plan=run.plan_version.plan), floor_ratio=0.01)
    assert applied() == Applied(0.01, 0.01, 8.0)
    sensitivity_update(sensitivity=of_plan, floor_ratio=None, noise_times=5.0)
    assert applied() == Applied(0.05, 0.05, 5.0)
    sensitivity_archive(sensitivity=of_plan)
    assert applied() == Applied(0.05, 0.05, 8.0)
    sensitivity_restore(sensitivity=of_plan)
    assert applied() == Applied(0.05, 0.05, 5.0)


def test_others_are_judged_as_usual() -> None:
    run_of(make_pair(), 0)
    said(SensitivityScope(environment=make_pair().environment), floor_ratio=0.2)
    said(SensitivityScope(kind="ping"), floor_ratio=0.2)
    assert applied() == Applied()


def test_what_was_taught_of_a_series_is_never_undercut() -> None:
    run = run_of(make_pair(), 0)
    SeriesNoise.objects.create(series=Series.objects.get(), floor_ratio=0.07, taught_at=night(0))
    said(SensitivityScope(plan=run.plan_version.plan), floor_ratio=0.01)
    assert applied() == Applied(0.07, 0.07, 4.0)


def test_a_suspect_stands_out_by_so_many_times_the_noise_as_is_said() -> None:
    pair = make_pair()
    said(SensitivityScope(environment=pair.environment), noise_times=20.0)
    quiet(pair)
    judged(pair, [0.95], first=20)
    assert Alert.objects.count() == 0
    judged(pair, [0.8], first=21)
    assert Alert.objects.get().state == State.SUSPECT


@pytest.mark.parametrize(
    ("scope", "floor_ratio", "noise_times", "field"),
    [
        (SensitivityScope(), 0.1, None, ""),
        (SensitivityScope(kind="none"), 0.1, None, "kind"),
        (SensitivityScope(metric="none"), 0.1, None, "metric"),
        (SensitivityScope(kind="ping", metric="throughput_bps"), 0.1, None, "metric"),
        (SensitivityScope(kind="ping"), None, None, "floor_ratio"),
        (SensitivityScope(kind="ping"), 0.001, None, "floor_ratio"),
        (SensitivityScope(kind="ping"), 0.6, None, "floor_ratio"),
        (SensitivityScope(kind="ping"), float("nan"), None, "floor_ratio"),
        (SensitivityScope(kind="ping"), None, 2.0, "noise_times"),
    ],
)
def test_what_says_nothing_or_too_much_is_refused(
    scope: SensitivityScope, floor_ratio: float | None, noise_times: float | None, field: str
) -> None:
    with pytest.raises(AlertError) as refusal:
        said(scope, floor_ratio, noise_times)
    assert refusal.value.field == field
    assert Sensitivity.objects.count() == 0


def test_of_one_scope_it_is_said_once() -> None:
    said(SensitivityScope(kind="ping"), 0.1)
    with pytest.raises(AlertError, match="already"):
        said(SensitivityScope(kind="ping"), 0.2)
    assert Sensitivity.objects.get().floor_ratio == 0.1


def test_an_archived_one_gives_way_to_another_and_is_restored_only_where_none_says_it() -> None:
    first = said(SensitivityScope(kind="ping"), 0.1)
    sensitivity_archive(sensitivity=first)
    second = said(SensitivityScope(kind="ping"), 0.2)
    with pytest.raises(AlertError, match="already"):
        sensitivity_restore(sensitivity=first)
    assert Sensitivity.objects.get(archived_at=None) == second


def findings(p_values: Sequence[float]) -> list[SeriesFinding]:
    run = RunValue(1, night(0), 1.0, 5)
    history = History.__new__(History)
    return [SeriesFinding(history, run, None, 2.0, 1.0, -0.5, None, None, p) for p in p_values]


def test_the_more_series_a_night_has_the_smaller_the_p_value_that_counts() -> None:
    (one,) = findings([5e-4])
    assert beyond_chance([one], others=[], series=100) == [one]
    assert beyond_chance([one], others=[], series=101) == []
    # Others that changed surely make room: of ten changes half a one may be chance.
    assert beyond_chance([one], others=[1e-9] * 9, series=1000) == [one]
    assert beyond_chance([one], others=[1e-9] * 9, series=1001) == []
    assert [each.p for each in beyond_chance(findings([1e-8, 0.04, 1e-7]), others=[], series=100)] == [1e-8, 1e-7]


def beside(pair: Pair, number: int, count: int) -> None:
    """Measure so many other series in a night, that show nothing."""
    run = run_of(pair, number)
    template = Series.objects.filter(pair=pair).get()
    rows = Series.objects.bulk_create(
        Series(pair=pair, kind=template.kind, metric=template.metric, identity={}, identity_digest=str(index))
        for index in range(count)
    )
    at = run.started_at or night(number)
    RunFigure.objects.bulk_create(
        RunFigure(run=run, series=series, at=at, n=1, median=1e9, low=1e9, high=1e9) for series in rows
    )
    assert Run.objects.get(pk=run.pk).has_figures


@pytest.mark.parametrize(("others", "opened"), [(0, 1), (1000, 0)])
def test_what_a_thousand_series_of_the_night_show_by_chance_waits_for_more_runs(others: int, opened: int) -> None:
    pair, other = make_pair(), make_pair()
    # No single run is a suspect: only runs together tell.
    said(SensitivityScope(environment=pair.environment), noise_times=20.0)
    quiet(pair)
    judged(pair, [0.93] * 3, first=20)
    assert not Alert.objects.exists()
    beside(other, 23, others)
    # Four runs of 24: p = 2 / 10,626.
    judged(pair, [0.93], first=23)
    assert Alert.objects.count() == opened
    judged(pair, [0.93] * 3, first=24)
    assert Alert.objects.get().state == State.OPEN
