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
from tests.factories import make_alert, make_channel, make_endpoint, make_pair

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


def test_what_one_window_muted_is_not_told_again_after_another(muted: Alert) -> None:
    own, now = MaintenanceWindow.objects.get(), timezone.now()
    values = WindowValues(name="other", begins_at=own.begins_at, ends_at=own.ends_at, host=make_endpoint().host)
    other = window_create(values)
    MaintenanceWindow.objects.filter(pk=own.pk).update(ends_at=now)
    assert tell_what_lasts() == 1
    MaintenanceWindow.objects.filter(pk=other.pk).update(ends_at=timezone.now())
    assert tell_what_lasts() == 0
    assert [state for state, _transition, _text in told()] == ["muted", "queued"]


def test_what_another_window_mutes_at_the_end_of_the_first_is_told_after_that(muted: Alert) -> None:
    first = MaintenanceWindow.objects.get()
    values = WindowValues(
        name="longer", begins_at=first.begins_at, ends_at=first.ends_at, environment=first.environment
    )
    window_create(values)
    MaintenanceWindow.objects.filter(pk=first.pk).update(ends_at=timezone.now())
    assert [tell_what_lasts(), told()[-1][0]] == [1, "muted"]
    let_end()
    assert [tell_what_lasts(), told()[-1][0], len(told())] == [1, "queued", 3]


@pytest.mark.parametrize("action", [AlertTransition.AlertAction.JOINED, AlertTransition.AlertAction.WOKEN])
def test_what_was_told_before_maintenance_is_not_told_as_still_so(
    channel: Channel, action: AlertTransition.AlertAction
) -> None:
    pair, now = make_pair(), timezone.now()
    alert = make_alert(pair=pair)
    window_create(
        WindowValues(name="new cables", begins_at=now, ends_at=now + timedelta(hours=1), environment=pair.environment)
    )
    record(alert, action, alert.state, None, "", params={"parts": []}, announced=True)
    assert [state for state, _transition, _text in told()] == ["queued", "muted"]
    let_end()
    assert tell_what_lasts() == 0


def test_what_joined_within_maintenance_does_not_hide_that_it_opened_there(muted: Alert) -> None:
    joined = AlertTransition.AlertAction.JOINED
    record(muted, joined, muted.state, None, "", params={"parts": []}, announced=True)
    let_end()
    assert tell_what_lasts() == 1
    assert told()[-1] == ("queued", "open", "still so after maintenance")


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
