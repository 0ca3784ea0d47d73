"""Drift, spikes, two modes, sizes and too few runs, judged run by run as they end."""

import random
from collections.abc import Iterable

import pytest

from benchweb.hosts.models import Pair
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import series_changes
from benchweb.results.models import Series
from benchweb.results.run_summaries import write_figures
from tests.factories import make_pair
from tests.nights import add_values, measured
from tests.regressions.judged import judged, level, night, quiet

pytestmark = pytest.mark.django_db
State = Alert.State
SIZES = (64, 1024, 32768, 65536)


def opened() -> Iterable[Alert]:
    return Alert.objects.exclude(opened_at=None).order_by("pk")


def of_modes(pair: Pair, count: int, low_share: float, *, first: int, seed: int) -> None:
    """Judge nights of which a share is 10 % below the others, as a coin falls."""
    draw = random.Random(seed)
    judged(pair, [0.9 if draw.random() < low_share else 1.0 for _ in range(count)], first=first)


def swept(pair: Pair, number: int, factors: dict[int, float]) -> None:
    """Judge a night in which each message size measures a share of its usual level."""
    first, *rest = SIZES
    values = {size: level(number + index, factors.get(size, 1.0)) for index, size in enumerate(SIZES)}
    run = measured(pair, night(number), values[first], identity={"message_size_bytes": first})
    for size in rest:
        add_values(run, pair, night(number), values[size], identity={"message_size_bytes": size})
    write_figures()
    assert judge_run(run.pk)


def test_a_slow_drift_opens_one_alert() -> None:
    pair = make_pair()
    quiet(pair, 40)
    judged(pair, [1 - 0.15 * (number + 1) / 30 for number in range(30)] + [0.85] * 10, first=40)
    (alert,) = opened()
    assert alert.state == State.OPEN
    part = alert.series.get()
    assert part.difference_ratio is not None
    assert -0.16 < part.difference_ratio < -0.05
    found = series_changes(part.series_id)
    assert found is not None
    assert any(change.is_drift for change, _ in found.changes)


def test_single_spikes_are_told_to_nobody() -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, ([0.6] + [1.0] * 9 + [1.5] + [1.0] * 7) * 2, first=20)
    assert list(opened()) == []
    assert {alert.state for alert in Alert.objects.all()} == {State.RECOVERED}


def test_fewer_than_twelve_runs_are_learning_and_make_no_alert_whatever_they_measure() -> None:
    pair = make_pair()
    judged(pair, [1.0] * 7 + [0.5] * 4)
    found = series_changes(Series.objects.get().pk)
    assert found is not None
    assert (found.runs, found.is_learning, found.changes) == (11, True, [])
    assert found.smallest_detectable_change_ratio is None
    assert Alert.objects.count() == 0


def test_the_twelfth_run_is_judged() -> None:
    pair = make_pair()
    judged(pair, [1.0] * 11 + [0.5])
    assert Alert.objects.get().state == State.SUSPECT


def test_a_series_with_two_modes_is_told_to_nobody() -> None:
    pair = make_pair()
    of_modes(pair, 70, 0.35, first=0, seed=1)
    assert list(opened()) == []
    assert not Alert.objects.filter(begun_at__gte=night(20)).exists()


def test_another_share_of_two_modes_is_one_alert_that_says_so_and_recovers_by_the_share() -> None:
    pair = make_pair()
    of_modes(pair, 40, 0.3, first=0, seed=2)
    of_modes(pair, 25, 0.95, first=40, seed=3)
    (alert,) = opened()
    part = alert.series.get()
    assert part.mode_share_before == pytest.approx(0.3, abs=0.1)
    assert part.mode_share_after == pytest.approx(0.95, abs=0.1)
    assert part.difference_ratio == pytest.approx(-0.07, abs=0.02)
    assert "at the lower of two levels in" in alert_title(alert)
    assert alert.state == State.OPEN
    # Three runs at the upper level are no recovery.
    judged(pair, [1.0] * 3, first=65)
    assert [each.state for each in opened()] == [State.OPEN]
    of_modes(pair, 35, 0.3, first=68, seed=4)
    assert [each.state for each in opened()] == [State.RECOVERED]


def test_what_fell_at_large_sizes_alone_says_so() -> None:
    pair = make_pair()
    for number in range(20):
        swept(pair, number, {})
    for number in range(20, 26):
        swept(pair, number, {32768: 0.9, 65536: 0.91})
    (alert,) = opened()
    assert alert.params["sizes"] == {
        "parameter": "message_size_bytes",
        "first": 32768.0,
        "last": 65536.0,
        "is_from_smallest": False,
        "is_to_largest": True,
    }
    assert "(only at 32 KiB and above) and 1 more series" in alert_title(alert)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ((64,), "only at 64 B"),
        ((64, 1024), "only at 1 KiB and below"),
        ((1024, 32768), "only from 1 KiB to 32 KiB"),
        ((64, 32768), ""),
        (SIZES, ""),
    ],
)
def test_sizes_are_named_where_neighbours_fell_and_others_did_not(bad: tuple[int, ...], words: str) -> None:
    pair = make_pair()
    for number in range(20):
        swept(pair, number, {})
    swept(pair, 20, dict.fromkeys(bad, 0.8))
    title = alert_title(Alert.objects.get())
    assert (f"({words})" in title) if words else ("only" not in title)
