"""A limit is broken: one alert, told once, and over by itself when the limit is kept again."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.baselines import baseline_pin, baseline_restore, baseline_unpin, pinned_baseline
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert, AlertSeries, AlertTransition, SeriesNoise, Threshold
from benchweb.regressions.signals import alert_changed
from benchweb.regressions.thresholds.rules import (
    ThresholdValues,
    limit_read,
    limit_text,
    threshold_archive,
    threshold_create,
    threshold_restore,
    threshold_update,
)
from benchweb.regressions.transitions import AlertError
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run
from tests.factories import make_pair
from tests.nights import measured
from tests.regressions.judged import judged, night, run_of

pytestmark = pytest.mark.django_db
State = Alert.State
VALUES: dict[str, Any] = {"kind": "tcp_stream", "metric": "throughput_bps", "relation": "below", "limit": 0.8e9}


def made(**values: Any) -> Threshold:
    return threshold_create(ThresholdValues(**{"name": "floor"} | VALUES | values), by=None)


def judged_as(plan_of: Run, pair: Pair, number: int, factor: float) -> None:
    """Measure and judge a night by the plan of another run."""
    run = run_of(pair, number, factor)
    Run.objects.filter(pk=run.pk).update(plan_version=plan_of.plan_version)
    assert judge_run(run.pk)


@pytest.fixture
def told() -> Iterator[list[str]]:
    states: list[str] = []

    def hear(transition: AlertTransition, **_: object) -> None:
        states.append(transition.to_state)

    alert_changed.connect(hear)
    yield states
    alert_changed.disconnect(hear)


def test_a_broken_limit_opens_one_alert_at_once_that_ends_by_itself(told: list[str]) -> None:
    pair = make_pair()
    threshold = made(severity="critical")
    runs = judged(pair, [1.0, 0.5, 0.4, 0.5])
    alert = Alert.objects.get()
    assert (alert.kind, alert.state, alert.severity, alert.pair) == ("threshold", State.OPEN, "critical", pair)
    part = alert.series.get()
    assert (part.threshold, part.before, part.first_bad_run, part.last_good_run) == (threshold, 0.8e9, runs[1], runs[0])
    assert part.after == pytest.approx(0.5e9, rel=0.01)
    assert alert_title(alert) == f"{pair}: TCP stream 16 KiB · Throughput, received 501 Mbit/s, below 800 Mbit/s"
    judged(pair, [1.0], first=4)
    alert.refresh_from_db()
    assert (alert.state, told) == (State.RECOVERED, [State.OPEN, State.RECOVERED])
    judged(pair, [1.0, 1.0, 0.5], first=5)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.RECOVERED, State.OPEN]


def test_the_last_good_run_is_one_that_kept_the_limit_or_there_is_none() -> None:
    pair = make_pair()
    # What was broken before anybody set a limit was never good.
    judged(pair, [0.5, 0.5])
    threshold = made(runs_in_row=2)
    judged(pair, [0.5, 0.5], first=2)
    assert Alert.objects.get().series.get().last_good_run is None
    threshold_archive(threshold=threshold, by=None)
    other = make_pair()
    made(runs_in_row=2, name="another")
    good, _bad, _worse = judged(other, [1.0, 0.5, 0.5])
    assert Alert.objects.latest("pk").series.get().last_good_run == good


def test_a_value_around_its_limit_is_one_alert_and_few_messages(told: list[str]) -> None:
    pair = make_pair()
    made()
    judged(pair, [0.7, 0.9] * 10)
    alert = Alert.objects.get()
    assert (alert.state, told) == (State.OPEN, [State.OPEN, State.RECOVERED, State.OPEN])
    assert alert_title(alert).endswith("below 800 Mbit/s, comes and goes")
    judged(pair, [0.9, 0.9], first=20)
    alert.refresh_from_db()
    assert (alert.state, told[3:]) == (State.RECOVERED, [State.RECOVERED])
    judged(pair, [0.9, 0.9, 0.7], first=22)
    assert Alert.objects.count() == 2


def test_a_value_that_swings_around_its_limit_every_few_minutes_is_told_a_few_times(told: list[str]) -> None:
    pair = make_pair()
    made()

    def minutes(first: int, factors: list[float]) -> None:
        for number, factor in enumerate(factors, start=first):
            run = measured(pair, night(0) + timedelta(minutes=2 * number), factor * 1e9)
            write_figures()
            assert judge_run(run.pk)

    minutes(0, ([0.7] * 4 + [0.9] * 4) * 3)
    assert told == [State.OPEN, State.RECOVERED, State.OPEN]
    # The last bad run began at the 38th minute.
    minutes(24, [0.9] * 26)
    assert told[3:] == []
    minutes(50, [0.9])
    assert (told[3:], Alert.objects.count()) == ([State.RECOVERED], 1)


def test_runs_in_a_row_open_an_alert_and_end_it(told: list[str]) -> None:
    pair = make_pair()
    made(runs_in_row=3)
    judged(pair, [0.7, 0.7, 0.9, 0.7, 0.7])
    assert not Alert.objects.exists()
    judged(pair, [0.7, 0.9, 0.9, 0.7, 0.9, 0.9], first=5)
    assert told == [State.OPEN]
    judged(pair, [0.9], first=11)
    assert told == [State.OPEN, State.RECOVERED]


@pytest.mark.parametrize("runs", [0, -1, 21])
def test_runs_in_a_row_are_one_to_twenty(runs: int) -> None:
    with pytest.raises(AlertError, match="1 to 20"):
        made(runs_in_row=runs)


def test_pairs_that_break_it_together_are_one_alert_which_ends_with_the_last(told: list[str]) -> None:
    pairs = [make_pair(), make_pair(), make_pair()]
    made()
    judged(pairs, [0.5])
    alert = Alert.objects.get()
    assert (alert.series.count(), alert.params["pairs"], alert.pair, told) == (3, 3, None, [State.OPEN])
    judged(pairs[:2], [1.0], first=1)
    assert Alert.objects.get().state == State.OPEN
    judged(pairs[2], [1.0], first=1)
    assert (Alert.objects.get().state, told) == (State.RECOVERED, [State.OPEN, State.RECOVERED])


def test_what_is_acknowledged_alerts_no_more_and_hides_no_other_pair(told: list[str]) -> None:
    one, other = make_pair(), make_pair()
    made()
    judged(one, [0.5])
    transitions.acknowledge(alert_id=Alert.objects.get().pk, by=None)
    judged(one, [0.4, 0.5], first=1)
    assert Alert.objects.count() == 1
    judged(other, [0.5])
    assert told == [State.OPEN, State.ACKNOWLEDGED, State.OPEN]


@pytest.mark.parametrize("action", [transitions.expect, transitions.invalidate, transitions.fix])
def test_what_people_ended_alerts_again_only_after_the_limit_was_kept(action: Callable[..., None]) -> None:
    pair = make_pair()
    made()
    judged(pair, [0.5])
    action(alert_id=Alert.objects.get().pk, by=None)
    judged(pair, [0.5, 0.4], first=1)
    assert Alert.objects.count() == 1
    assert SeriesNoise.objects.count() == 0
    judged(pair, [1.0, 0.5], first=3)
    assert Alert.objects.count() == 2


def test_above_is_the_other_side_and_the_limit_itself_is_kept() -> None:
    pair = make_pair()
    made(relation="above", limit=1e9)
    judged(pair, [1.0, 0.9])
    assert Alert.objects.count() == 0
    judged(pair, [1.2], first=2)
    assert Alert.objects.count() == 1


def test_a_limit_by_the_pinned_baseline_needs_one_and_follows_it() -> None:
    pair = make_pair()
    made(relation="baseline", limit=0.05)
    (run,) = judged(pair, [1.0])
    judged(pair, [0.9], first=1)
    assert Alert.objects.count() == 0
    run.refresh_from_db()
    baseline_pin(run=run, name="since 5.2", by=None)
    judged_as(run, pair, 2, 0.96)
    assert Alert.objects.count() == 0
    judged_as(run, pair, 3, 0.9)
    part = AlertSeries.objects.get()
    assert part.before == pytest.approx(0.95e9)


def test_only_runs_of_its_environment_pair_and_plan_are_judged_by_it() -> None:
    one, other = make_pair(environment="terway"), make_pair(environment="host")
    for scope in ({"environment": one.environment}, {"pair": one}, {"metric": "retransmits"}):
        made(**scope)
    judged(other, [0.5])
    assert Alert.objects.count() == 0
    judged(one, [0.5])
    assert Alert.objects.count() == 2
    (run,) = judged(one, [1.0], first=1)
    assert Alert.objects.filter(state=State.RECOVERED).count() == 2
    Threshold.objects.update(archived_at=night(0))
    made(plan=run.plan_version.plan)
    judged(one, [0.5], first=2)
    assert Alert.objects.count() == 2
    judged_as(run, one, 3, 0.5)
    assert Alert.objects.count() == 3


def test_a_late_result_of_before_neither_opens_nor_ends() -> None:
    pair = make_pair()
    made()
    judged(pair, [0.5], first=5)
    judged(pair, [1.0], first=4)
    assert Alert.objects.get().state == State.OPEN


def test_an_archived_one_ends_its_alerts_and_judges_no_more_until_it_is_restored() -> None:
    pair = make_pair()
    threshold = made()
    judged(pair, [0.5])
    threshold_archive(threshold=threshold, by=None)
    assert Alert.objects.get().state == State.FIXED
    judged(pair, [0.5, 1.0, 0.5], first=1)
    assert Alert.objects.count() == 1
    threshold_restore(threshold=threshold)
    judged(pair, [1.0, 0.5], first=4)
    assert Alert.objects.filter(state=State.OPEN).count() == 1


def test_one_restored_while_its_limit_is_broken_tells_of_it_again() -> None:
    pair = make_pair()
    threshold = made()
    judged(pair, [0.5])
    threshold_archive(threshold=threshold, by=None)
    threshold_restore(threshold=threshold)
    judged(pair, [0.5, 0.4], first=1)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.FIXED, State.OPEN]
    judged(pair, [1.0], first=3)
    assert list(Alert.objects.order_by("pk").values_list("state", flat=True)) == [State.FIXED, State.RECOVERED]


def test_a_changed_limit_is_that_of_the_next_run() -> None:
    pair = make_pair()
    threshold = made()
    judged(pair, [0.5])
    threshold_update(threshold=threshold, name="lower floor", limit=0.3e9, severity="critical", runs_in_row=1)
    judged(pair, [0.5], first=1)
    assert Alert.objects.get().state == State.RECOVERED
    judged(pair, [0.2], first=2)
    alert = Alert.objects.latest("pk")
    assert (alert.severity, alert.series.get().before) == ("critical", 0.3e9)


def test_an_unpinned_baseline_gives_way_to_the_one_before() -> None:
    pair = make_pair()
    first, second = judged(pair, [1.0, 0.5])
    Run.objects.filter(pk=second.pk).update(plan_version=first.plan_version)
    first.refresh_from_db()
    second.refresh_from_db()
    one, two = (baseline_pin(run=run, name=name, by=None) for run, name in ((first, "5.1"), (second, "5.2")))
    assert pinned_baseline(first) == two
    baseline_unpin(baseline=two)
    assert pinned_baseline(first) == one
    baseline_restore(baseline=two)
    assert pinned_baseline(first) == two


def test_changes_are_judged_as_if_there_were_no_threshold() -> None:
    plain, limited = make_pair(), make_pair()
    made(pair=limited)
    judged([plain, limited], [1.0] * 20 + [0.7] * 8)
    changes = Alert.objects.filter(kind="change")
    fields = ("state", "begun_at", "size_ratio", "params__series")
    (found,) = changes.filter(pair=plain).values_list(*fields)
    assert list(changes.filter(pair=limited).values_list(*fields)) == [found]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"kind": "none"}, "kind"),
        ({"metric": "none"}, "metric"),
        ({"relation": "near"}, "relation"),
        ({"severity": "awful"}, "severity"),
        ({"limit": float("nan")}, "limit"),
        ({"relation": "baseline", "limit": 0.0}, "limit"),
        ({"name": ""}, "name"),
    ],
)
def test_what_can_be_no_threshold_is_refused(values: dict[str, Any], field: str) -> None:
    with pytest.raises(AlertError) as refused:
        made(**values)
    assert refused.value.field == field
    assert Threshold.objects.count() == 0


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("5 Gbit/s", "bit/s", 5e9),
        ("5G", "bit/s", 5e9),
        ("0.2 ms", "s", 2e-4),
        ("200us", "s", 2e-4),
        ("1 %", "ratio", 0.01),
        ("728 k pkt/s", "pkt/s", 728e3),
        ("3", "segments", 3.0),
    ],
)
def test_limits_are_read_as_people_write_them(text: str, unit: str, value: float) -> None:
    assert limit_read(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit"),
    [(text, "bit/s") for text in ("", "fast", "5 Gbyte", "1e999", "--1", "5 %")] + [("0.05", "ratio"), ("5", "ratio")],
)
def test_what_is_no_limit_is_refused(text: str, unit: str) -> None:
    with pytest.raises(AlertError):
        made(limit=limit_read(text, unit))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8e8, "bit/s", "800 Mbit/s"),
        (812_345_678.0, "bit/s", "812345678 bit/s"),
        (2e-4, "s", "200 µs"),
        (0.01, "ratio", "1.00 %"),
        (0.012345, "ratio", "1.2345 %"),
        (1_048_576.0, "B", "1048576 B"),
        (-0.5, "s", "-0.5 s"),
    ],
)
def test_a_limit_is_written_so_that_it_reads_as_the_same(value: float, unit: str, text: str) -> None:
    assert limit_text(value, unit) == text
    assert limit_read(text, unit) == value
