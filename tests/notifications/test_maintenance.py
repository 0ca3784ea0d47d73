"""What maintenance muted is told once after it where it goes on, and no end is told without its beginning."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.notifications.maintenance import tell_what_lasts
from benchweb.notifications.models import Channel, Delivery, MaintenanceWindow
from benchweb.notifications.services import RuleValues, WindowValues, archive, rule_create, window_create
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.transitions import record
from tests.factories import make_alert, make_channel, make_pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def channel() -> Channel:
    channel = make_channel()
    rule_create(RuleValues(name="all", channel=channel))
    return channel


@pytest.fixture
def muted(channel: Channel) -> Alert:
    """Return an alert that opened within a maintenance window of its environment."""
    pair, now = make_pair(), timezone.now()
    begins, ends = now - timedelta(hours=1), now + timedelta(hours=1)
    window_create(WindowValues(name="new cables", begins_at=begins, ends_at=ends, environment=pair.environment))
    return make_alert(pair=pair)


def told() -> list[tuple[str, str, str]]:
    rows = Delivery.objects.order_by("pk").values_list("state", "payload")
    return [(state, row["data"]["transition"], row["data"]["text"].splitlines()[0]) for state, row in rows]


def let_end() -> None:
    MaintenanceWindow.objects.update(ends_at=timezone.now())


def test_what_goes_on_after_maintenance_is_told_once(muted: Alert) -> None:
    assert tell_what_lasts() == 0
    let_end()
    assert (tell_what_lasts(), tell_what_lasts()) == (1, 0)
    assert told() == [("muted", "open", "open"), ("queued", "open", "still so after maintenance")]
    assert f"Since {muted.begun_at:%Y-%m-%d %H:%M} UTC" in Delivery.objects.latest("pk").payload["data"]["text"]
    transitions.fix(alert_id=muted.pk, by=None)
    assert [transition for _state, transition, _text in told()] == ["open", "open", "fixed"]


def test_archived_maintenance_has_ended(muted: Alert) -> None:
    archive(row=MaintenanceWindow.objects.get())
    assert tell_what_lasts() == 1


@pytest.mark.parametrize("state", [Alert.State.RECOVERED, Alert.State.ACKNOWLEDGED])
def test_what_is_over_or_known_when_maintenance_ends_is_not_told(muted: Alert, state: str) -> None:
    transitions.move(muted.pk, state)
    let_end()
    assert tell_what_lasts() == 0


def test_no_end_is_told_whose_beginning_was_muted(muted: Alert) -> None:
    MaintenanceWindow.objects.update(archived_at=timezone.now(), told_at=timezone.now())
    transitions.move(muted.pk, Alert.State.RECOVERED)
    assert told() == [("muted", "open", "open")]


def test_an_end_goes_to_the_channels_that_heard_of_its_beginning(channel: Channel) -> None:
    alert = make_alert()
    rule_create(RuleValues(name="later", channel=make_channel("later")))
    rule_create(RuleValues(name="ends", channel=make_channel("ends"), transitions=["recovered"]))
    transitions.move(alert.pk, Alert.State.RECOVERED)
    ends = Delivery.objects.filter(payload__data__transition="recovered").order_by("channel__pk")
    assert [delivery.channel.name for delivery in ends] == [channel.name, "ends"]


def test_the_end_of_what_was_split_off_goes_to_those_who_heard_of_the_whole(channel: Channel) -> None:
    alert = make_alert()
    part_of = make_alert(pair=make_pair())
    Delivery.objects.filter(payload__data__thread=f"alert-{part_of.pk}").delete()
    record(part_of, AlertTransition.AlertAction.SPLIT, part_of.state, None, "", params={"from": alert.pk})
    transitions.move(part_of.pk, Alert.State.RECOVERED)
    assert [transition for _state, transition, _text in told()] == ["open", "recovered"]
