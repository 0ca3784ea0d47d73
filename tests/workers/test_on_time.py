"""A slot between two ticks is claimed at its time."""

import threading
from datetime import timedelta

import pytest

from benchweb.common.rows import database_now
from benchweb.schedules.models import Slot
from benchweb.schedules.selectors import seconds_until_due
from benchweb.schedules.services import schedule_pause
from tests.factories import make_schedule
from workers import ticking as on_time

pytestmark = pytest.mark.django_db


def test_only_what_comes_within_the_time_is_waited_for() -> None:
    schedule = make_schedule(every="PT1H", starts_at=database_now().replace(microsecond=0) + timedelta(seconds=30))
    assert seconds_until_due(1) is None
    seconds = seconds_until_due(60)
    assert seconds is not None and 20 < seconds <= 30
    schedule_pause(schedule=schedule)
    assert seconds_until_due(60) is None


def test_what_is_due_already_is_the_tick_s_own() -> None:
    make_schedule(every="PT1H", starts_at=database_now() - timedelta(seconds=2))
    assert seconds_until_due(60) is None


@pytest.mark.django_db(transaction=True)
def test_a_slot_that_comes_before_the_next_tick_is_claimed_when_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    make_schedule(every="PT1H", starts_at=database_now().replace(microsecond=0) + timedelta(seconds=2))
    monkeypatch.setattr(on_time, "TICK_SECONDS", 2.5)
    on_time.claim_on_time()
    assert Slot.objects.count() == 0
    waited = threading.Event()
    for _ in range(100):
        if Slot.objects.exists():
            break
        waited.wait(0.1)
    slot = Slot.objects.get()
    assert timedelta(0) <= slot.claimed_at - slot.at < timedelta(seconds=60)
