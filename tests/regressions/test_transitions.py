"""What people do with an alert: recorded with names and times, refused where it can't be, and told once."""

from collections.abc import Callable

import pytest

from benchweb.regressions import transitions
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.signals import alert_changed
from benchweb.regressions.transitions import AlertError
from tests.factories import make_alert, make_user

pytestmark = pytest.mark.django_db
State = Alert.State


def test_every_transition_is_in_the_history_with_who_and_why() -> None:
    alert, anna = make_alert(), make_user("anna", "secret words")
    transitions.acknowledge(alert_id=alert.pk, by=anna, comment=" the new switch ")
    transitions.assign(alert_id=alert.pk, assignee=anna, by=anna)
    transitions.remark(alert_id=alert.pk, comment="asked the vendor", by=anna, ticket_url="https://tickets.test/7")
    transitions.fix(alert_id=alert.pk, by=None)
    alert.refresh_from_db()
    assert (alert.state, alert.assignee, alert.ticket_url) == (State.FIXED, anna, "https://tickets.test/7")
    rows = AlertTransition.objects.values_list("action", "from_state", "to_state", "comment", "by")
    assert list(rows) == [
        ("found", "", "open", "", None),
        ("moved", "open", "acknowledged", "the new switch", anna.pk),
        ("assigned", "acknowledged", "acknowledged", "", anna.pk),
        ("commented", "acknowledged", "acknowledged", "asked the vendor", anna.pk),
        ("moved", "acknowledged", "fixed", "", None),
    ]


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (State.ACKNOWLEDGED, transitions.acknowledge),
        (State.RECOVERED, transitions.acknowledge),
        (State.FIXED, transitions.expect),
        (State.INVALID, transitions.fix),
    ],
)
def test_a_transition_from_a_wrong_state_is_refused_and_changes_nothing(
    state: str, action: Callable[..., object]
) -> None:
    alert = make_alert(state)
    with pytest.raises(AlertError) as refused:
        action(alert_id=alert.pk, by=None)
    assert f"from {State(state).label} to" in refused.value.message
    assert Alert.objects.get().state == state
    assert AlertTransition.objects.count() == 1


def test_a_receiver_that_fails_undoes_the_transition() -> None:
    alert = make_alert()

    def fail(**_: object) -> None:
        raise RuntimeError("no outbox")

    alert_changed.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            transitions.acknowledge(alert_id=alert.pk, by=None)
    finally:
        alert_changed.disconnect(fail)
    assert Alert.objects.get().state == State.OPEN
    assert AlertTransition.objects.count() == 1


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "tickets.test/7", "ftp://tickets.test/7", "https://t.test/\0"]
)
def test_a_ticket_is_an_address_of_the_web(address: str) -> None:
    alert = make_alert()
    with pytest.raises(AlertError) as refused:
        transitions.remark(alert_id=alert.pk, comment="", by=None, ticket_url=address)
    assert refused.value.field == "ticket_url"
    assert Alert.objects.get().ticket_url == ""
