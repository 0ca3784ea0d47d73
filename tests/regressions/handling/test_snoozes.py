"""A snoozed alert is hidden until a time or until it gets worse, which is told once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from benchweb.notifications.channels import channel_create
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions import transitions
from benchweb.regressions.handling import snoozes
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.selectors import AlertFilters, alerts_matching
from benchweb.regressions.transitions import AlertError
from tests.factories import make_alert, make_pair, make_user
from tests.regressions.judged import judged, quiet

pytestmark = pytest.mark.django_db
State = Alert.State


def hidden() -> list[int]:
    return list(alerts_matching(AlertFilters(snoozed=True)).values_list("pk", flat=True))


@pytest.mark.parametrize("ends", [{}, {"until": timezone.now() - timedelta(seconds=1)}])
def test_a_snooze_has_an_end_that_is_to_come(ends: dict[str, Any]) -> None:
    alert = make_alert()
    with pytest.raises(AlertError) as refused:
        snoozes.snooze(alert_id=alert.pk, by=None, **ends)
    assert refused.value.field == "until"
    assert AlertTransition.objects.count() == 1


def test_it_is_hidden_until_its_time_and_then_is_there_again() -> None:
    alert, anna = make_alert(), make_user("anna", "secret words")
    until = timezone.now() + timedelta(hours=8)
    snoozes.snooze(alert_id=alert.pk, until=until, by=anna, comment="the vendor comes tomorrow")
    alert.refresh_from_db()
    assert (alert.state, alert.snoozed_until, alert.is_snoozed, hidden()) == (State.OPEN, until, True, [alert.pk])
    row = AlertTransition.objects.latest("pk")
    assert (row.action, row.by, row.params) == ("snoozed", anna, {"until": until.isoformat(), "until_worse": False})
    Alert.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    alert.refresh_from_db()
    assert (alert.is_snoozed, hidden()) == (False, [])


def test_somebody_ends_it_once() -> None:
    alert = make_alert()
    snoozes.snooze(alert_id=alert.pk, until_worse=True, by=None)
    snoozes.wake(alert_id=alert.pk, by=None)
    assert hidden() == []
    with pytest.raises(AlertError):
        snoozes.wake(alert_id=alert.pk, by=None)
    assert list(AlertTransition.objects.values_list("action", flat=True)) == ["found", "snoozed", "woken"]


def test_what_has_ended_is_not_snoozed() -> None:
    alert = make_alert(State.FIXED)
    with pytest.raises(AlertError):
        snoozes.snooze(alert_id=alert.pk, until_worse=True, by=None)
    live = make_alert()
    snoozes.snooze(alert_id=live.pk, until_worse=True, by=None)
    transitions.fix(alert_id=live.pk, by=None)
    live.refresh_from_db()
    assert (live.is_snoozed, hidden()) == (False, [])


def test_it_wakes_once_it_is_worse_and_people_are_told_once() -> None:
    channel = channel_create(name="team", settings=ChannelSettings("email", to=["ann@example.org"]))
    rule_create(RuleValues(name="everything", channel=channel))
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.9] * 8, first=20)
    alert = Alert.objects.get(state=State.OPEN)
    snoozes.snooze(alert_id=alert.pk, until_worse=True, by=None)
    judged(pair, [0.9] * 3, first=28)
    assert hidden() == [alert.pk]
    # Another series of the same cause has lost more.
    alert.series.update(difference_ratio=-0.12)
    Alert.objects.filter(pk=alert.pk).update(size_ratio=0.12)
    assert snoozes.wake_if_worse(alert.pk) is False
    Alert.objects.filter(pk=alert.pk).update(size_ratio=0.15)
    assert snoozes.wake_if_worse(alert.pk) is True
    assert snoozes.wake_if_worse(alert.pk) is False
    assert hidden() == []
    told = list(Delivery.objects.order_by("pk").values_list("payload__type", flat=True))
    assert told == ["alert.open", "alert.worse"]
    assert "worse than when it was snoozed" in Delivery.objects.latest("pk").payload["data"]["text"]


def test_a_higher_severity_is_worse_whatever_the_size() -> None:
    alert = make_alert()
    snoozes.snooze(alert_id=alert.pk, until_worse=True, until=timezone.now() + timedelta(hours=1), by=None)
    Alert.objects.update(severity="critical", size_ratio=0.01)
    assert snoozes.wake_if_worse(alert.pk) is True
    assert hidden() == []
