"""What somebody said of an alert by mistake is taken back, with what it taught."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.alert_texts import transition_text
from benchweb.regressions.handling.reopening import reopen
from benchweb.regressions.models import Alert, AlertTransition, SeriesNoise
from benchweb.regressions.transitions import AlertError
from tests.factories import make_alert, make_pair
from tests.regressions.judged import judged, quiet

State = Alert.State


@pytest.fixture
def pair(db: None) -> Pair:
    """Return a pair that lost 30 % six nights ago."""
    made = make_pair()
    quiet(made)
    judged(made, [0.7] * 6, first=20)
    return made


@pytest.mark.parametrize(
    "action", [transitions.acknowledge, transitions.expect, transitions.invalidate, transitions.fix]
)
def test_it_is_open_again_and_recovers_as_ever(pair: Pair, action: Callable[..., None]) -> None:
    alert = Alert.objects.get()
    action(alert_id=alert.pk, by=None)
    reopen(alert_id=alert.pk, by=None, comment="pressed by mistake")
    alert.refresh_from_db()
    assert (alert.state, alert.ended_at, SeriesNoise.objects.count()) == (State.OPEN, None, 0)
    row = AlertTransition.objects.latest("pk")
    assert (transition_text(row), row.comment) == ("reopened", "pressed by mistake")
    judged(pair, [0.7, 1.0, 1.0, 1.0], first=26)
    assert Alert.objects.get().state == State.RECOVERED


def test_what_was_taught_before_or_since_stays(pair: Pair) -> None:
    alert = Alert.objects.get()
    series = alert.series.get().series
    SeriesNoise.objects.create(series=series, floor_ratio=0.1, taught_at=alert.created_at)
    transitions.invalidate(alert_id=alert.pk, by=None)
    assert SeriesNoise.objects.get().floor_ratio == pytest.approx(0.3, abs=0.01)
    reopen(alert_id=alert.pk, by=None)
    assert SeriesNoise.objects.get().floor_ratio == 0.1
    transitions.invalidate(alert_id=alert.pk, by=None)
    SeriesNoise.objects.update(floor_ratio=0.4)
    reopen(alert_id=alert.pk, by=None)
    assert SeriesNoise.objects.get().floor_ratio == 0.4


@pytest.mark.django_db
@pytest.mark.parametrize("state", [State.OPEN, State.SUSPECT, State.RECOVERED, State.MERGED])
def test_what_nobody_ended_is_refused(state: str) -> None:
    alert = make_alert(state)
    with pytest.raises(AlertError):
        reopen(alert_id=alert.pk, by=None)
    assert (Alert.objects.get().state, AlertTransition.objects.count()) == (state, 1)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_acknowledge_at_once_one_is_told_that_it_is_done() -> None:
    alert, barrier = make_alert(), Barrier(2)

    def acknowledge() -> bool:
        try:
            barrier.wait()
            transitions.acknowledge(alert_id=alert.pk, by=None)
            return True
        except AlertError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(acknowledge) for _ in range(2)]
    assert sorted(each.result() for each in done) == [False, True]
    assert list(AlertTransition.objects.values_list("to_state", flat=True)) == [State.OPEN, State.ACKNOWLEDGED]
