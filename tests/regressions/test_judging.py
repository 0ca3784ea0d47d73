"""A change is found once, by whoever looks, and told of once for what has one cause."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions import transitions
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert, AlertSeries, AlertTransition, RunJudgement, SeriesNoise
from benchweb.regressions.selectors import night_of_date
from benchweb.regressions.signals import alert_changed
from benchweb.results.run_summaries import write_figures
from tests.factories import make_endpoint, make_environment, make_pair
from tests.nights import add_values, measured
from tests.regressions.judged import judged, latency_night, level, night, quiet, run_of

pytestmark = pytest.mark.django_db
State = Alert.State


@pytest.fixture
def told() -> Iterator[list[str]]:
    """Collect what people are told: states of alerts, in order."""
    states: list[str] = []

    def hear(sender: object, alert: Alert, transition: AlertTransition, **_: object) -> None:
        states.append(transition.to_state)

    alert_changed.connect(hear)
    yield states
    alert_changed.disconnect(hear)


def test_quiet_nights_make_no_alert(told: list[str]) -> None:
    quiet(make_pair(), 30, series=4)
    assert Alert.objects.count() == 0
    assert told == []


def test_a_step_of_many_series_opens_one_alert_with_its_levels(told: list[str]) -> None:
    pair = make_pair()
    runs = quiet(pair, series=6) + judged(pair, [0.9] * 6, first=20, series=6)
    alert = Alert.objects.get()
    assert (alert.kind, alert.state, alert.pair, alert.host) == ("change", State.OPEN, pair, None)
    assert (alert.begun_at, alert.params["series"], alert.params["pairs"]) == (night(20), 6, 1)
    assert alert.size_ratio == pytest.approx(0.1, abs=0.01)
    parts = AlertSeries.objects.filter(alert=alert)
    assert {part.first_bad_run_id for part in parts} == {runs[20].pk}
    assert {part.last_good_run_id for part in parts} == {runs[19].pk}
    highs = [part.interval_high_ratio for part in parts]
    assert all(part.p is not None and part.p < 0.001 for part in parts)
    assert all(high is not None and high < -0.08 for high in highs)
    assert told == [State.OPEN]


def test_the_first_bad_night_is_a_suspect_that_nobody_is_told_of_and_that_goes_by_itself(
    quiet_pair: Pair, told: list[str]
) -> None:
    judged(quiet_pair, [0.8], first=20)
    alert = Alert.objects.get()
    assert (alert.state, alert.unconfirmed_code) == (State.SUSPECT, "no_schedule")
    assert night_of_date(alert.night).unconfirmed == [alert]
    judged(quiet_pair, [1.0], first=21)
    alert.refresh_from_db()
    assert (alert.state, alert.opened_at) == (State.RECOVERED, None)
    assert told == []


def test_a_spike_some_nights_later_is_a_suspect_of_its_own(quiet_pair: Pair) -> None:
    judged(quiet_pair, [0.8, 1.0, 1.0, 0.8, 1.0, 1.0], first=20)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.RECOVERED] * 2


def test_a_good_run_that_ends_a_suspect_hides_no_change_that_later_runs_show(quiet_pair: Pair, told: list[str]) -> None:
    runs = judged(quiet_pair, [0.9, 1.0] + [0.9] * 6, first=20)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.RECOVERED, State.OPEN]
    part = AlertSeries.objects.get(alert__state=State.OPEN)
    assert part.first_bad_run_id in {runs[0].pk, runs[2].pk}
    assert told == [State.OPEN]
    judged(quiet_pair, [0.9] * 4, first=28)
    assert Alert.objects.count() == 2


def test_a_change_for_the_better_alerts_nobody(quiet_pair: Pair) -> None:
    judged(quiet_pair, [1.2] * 8, first=20)
    assert Alert.objects.count() == 0


def test_a_recovery_is_noticed_and_told_once_and_the_segment_never_alerts_again(told: list[str]) -> None:
    pair = make_pair()
    quiet(pair, series=3)
    judged(pair, [0.85] * 6 + [1.0] * 12, first=20, series=3)
    alert = Alert.objects.get()
    assert alert.state == State.RECOVERED
    assert told == [State.OPEN, State.RECOVERED]


def test_a_latency_that_stays_hundreds_of_times_longer_has_not_recovered() -> None:
    pair = make_pair()
    round_trips = [14e-6] * 20 + [11e-3] * 6 + [5.4e-3] * 4
    for number, seconds in enumerate(round_trips):
        latency_night(pair, number, seconds)
    alert = Alert.objects.get()
    assert alert.state == State.OPEN
    for number in range(30, 33):
        latency_night(pair, number, 15e-6)
    alert.refresh_from_db()
    assert alert.state == State.RECOVERED


def test_a_second_step_after_a_recovery_is_an_alert_of_its_own(quiet_pair: Pair, told: list[str]) -> None:
    judged(quiet_pair, [0.85] * 6 + [1.0] * 12 + [0.85] * 6, first=20)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.RECOVERED, State.OPEN]
    assert told == [State.OPEN, State.RECOVERED, State.OPEN]


def test_what_is_acknowledged_alerts_no_more_while_its_segment_lasts(told: list[str]) -> None:
    pair = make_pair()
    quiet(pair, series=3)
    judged(pair, [0.85] * 6, first=20, series=3)
    transitions.acknowledge(alert_id=Alert.objects.get().pk, by=None, comment="the new switch")
    judged(pair, [0.85] * 20, first=26, series=3)
    assert Alert.objects.get().state == State.ACKNOWLEDGED
    assert told == [State.OPEN, State.ACKNOWLEDGED]
    # No re-run measured it again, but the next run did.
    alert = Alert.objects.get()
    assert (alert.unconfirmed_code, night_of_date(alert.night).unconfirmed) == ("", [])


@pytest.mark.parametrize("factors", [[1.0] + [0.9] * 7, [1.0, 1.0] + [0.9] * 7, [0.9, 1.0, 0.9, 0.9, 1.0] + [0.9] * 5])
def test_a_suspect_that_was_acknowledged_alerts_no_more_after_some_good_runs(
    told: list[str], factors: list[float]
) -> None:
    pair = make_pair()
    quiet(pair, series=2)
    judged(pair, [0.9], first=20, series=2)
    transitions.acknowledge(alert_id=Alert.objects.get().pk, by=None)
    judged(pair, factors, first=21, series=2)
    assert Alert.objects.get().state == State.ACKNOWLEDGED
    assert told == [State.ACKNOWLEDGED]


def test_a_suspect_that_was_acknowledged_recovers_by_three_runs_which_is_told_and_a_later_fall_is_news(
    quiet_pair: Pair,
    told: list[str],
) -> None:
    judged(quiet_pair, [0.9], first=20)
    transitions.acknowledge(alert_id=Alert.objects.get().pk, by=None)
    judged(quiet_pair, [1.0] * 2, first=21)
    assert Alert.objects.get().state == State.ACKNOWLEDGED
    judged(quiet_pair, [1.0], first=23)
    assert Alert.objects.get().state == State.RECOVERED
    judged(quiet_pair, [1.0] * 10 + [0.9] * 6, first=24)
    assert told == [State.ACKNOWLEDGED, State.RECOVERED, State.OPEN]


def test_an_expected_level_is_the_baseline_of_what_comes_after(quiet_pair: Pair) -> None:
    judged(quiet_pair, [0.85] * 6, first=20)
    transitions.expect(alert_id=Alert.objects.get().pk, by=None)
    judged(quiet_pair, [0.85] * 14, first=26)
    assert Alert.objects.count() == 1
    judged(quiet_pair, [0.7] * 6, first=40)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.EXPECTED, State.OPEN]


@pytest.mark.parametrize("low", [0.978, 0.975])
def test_a_lasting_fall_that_began_near_one_that_is_over_is_told(low: float, told: list[str]) -> None:
    pair = make_pair()
    for number in range(44):
        _two_series(pair, number, 0.6 if number in (20, 21) else 1.0, low if number >= 22 else 1.0)
    over, lasting = Alert.objects.order_by("pk")
    assert (over.state, lasting.state) == (State.RECOVERED, State.OPEN)
    assert lasting.series.get().series.identity == {"message_size_bytes": 2}
    assert told == [State.OPEN, State.RECOVERED, State.OPEN]


def test_a_smaller_fall_with_the_one_that_is_expected_is_told_no_more(told: list[str]) -> None:
    pair = make_pair()
    for number in range(44):
        _two_series(pair, number, 0.6 if number >= 20 else 1.0, 0.975 if number >= 20 else 1.0)
        if number == 21:
            transitions.expect(alert_id=Alert.objects.get().pk, by=None)
    assert Alert.objects.get().series.count() == 2
    assert told == [State.OPEN, State.EXPECTED]


def _two_series(pair: Pair, number: int, factor: float, other: float) -> None:
    """Measure and judge a past night of two message sizes: alerts end after it."""
    at = night(number - 60)
    run = measured(pair, at, level(number, factor))
    add_values(run, pair, at, level(number + 1, other), identity={"message_size_bytes": 2})
    write_figures()
    assert judge_run(run.pk)


def test_an_invalid_alert_teaches_the_floor_of_its_series(quiet_pair: Pair) -> None:
    judged(quiet_pair, [0.95] * 7, first=20)
    alert = Alert.objects.get()
    transitions.invalidate(alert_id=alert.pk, by=None)
    assert SeriesNoise.objects.get().floor_ratio == pytest.approx(0.05, abs=0.01)
    judged(quiet_pair, [1.0] * 14 + [0.96] * 7, first=27)
    assert Alert.objects.count() == 1


def test_pairs_that_share_a_host_are_one_alert_that_names_it() -> None:
    bad, environment = make_endpoint(), make_environment("mesh")
    others = [make_endpoint() for _ in range(3)]
    pairs = [pair_create(source=bad, sink=other, environment=environment) for other in others]
    apart = pair_create(source=others[0], sink=others[1], environment=environment)
    quiet([*pairs, apart])
    for number in range(20, 26):
        judged(pairs, [0.8], first=number)
        judged(apart, [1.0], first=number)
    alert = Alert.objects.get()
    assert (alert.state, alert.host_id, alert.pair, alert.severity) == (State.OPEN, bad.host_id, None, "critical")
    assert alert.params["pairs"] == 3


def test_pairs_without_a_common_host_are_alerts_of_their_own() -> None:
    pairs = [make_pair(), make_pair()]
    quiet(pairs)
    judged(pairs, [0.8] * 6, first=20)
    assert {alert.pair for alert in Alert.objects.all()} == set(pairs)


def test_what_the_night_measured_is_not_read_again_for_each_part_of_an_alert() -> None:
    """One query of both took minutes where PostgreSQL had no statistics of the tables yet."""
    pairs = [make_pair(), make_pair()]
    quiet(pairs, 13)
    judged(pairs, [0.8] * 4, first=13)
    judged(pairs[0], [0.8], first=17)
    latest = run_of(pairs[1], 17, 0.8)
    with CaptureQueriesContext(connection) as captured:
        assert judge_run(latest.pk)
    [of_others] = [query["sql"] for query in captured if '"p" AS "p" FROM "regressions_alertseries"' in query["sql"]]
    assert "results_runfigure" not in of_others


def test_a_run_is_judged_once() -> None:
    pair = make_pair()
    run = run_of(pair, 0)
    assert judge_run(run.pk)
    assert not judge_run(run.pk)
    assert RunJudgement.objects.filter(run=run).count() == 1


def test_a_result_that_came_late_is_judged_in_its_place(quiet_pair: Pair, told: list[str]) -> None:
    nights = [*range(20, 23), *range(24, 27)]
    for number in nights:
        judged(quiet_pair, [0.9], first=number)
    assert told == [State.OPEN]
    late = run_of(quiet_pair, 23, 0.9)
    assert judge_run(late.pk)
    assert Alert.objects.get().state == State.OPEN
    assert told == [State.OPEN]
