"""What is over leaves the log after some time; what is not over stays, however old."""

from datetime import time, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt, Rule
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import HttpReceiver, MailServer, status

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ninety_days(settings: Settings) -> None:
    settings.DELIVERY_DAYS = 90


def ended(days_ago: float) -> None:
    """Let all that is over have ended so long ago."""
    over = Delivery.objects.exclude(finished_at=None)
    over.update(finished_at=timezone.now() - timedelta(days=days_ago))


def test_what_ended_long_ago_is_removed_with_its_attempts_and_nothing_else(
    receiver: HttpReceiver, everything: Rule
) -> None:
    receiver.replies.append(status(500))
    notify(make_event())
    outbox.send_due()
    let_pass(minutes=1)
    outbox.send_due()
    ended(90.1)
    notify(make_event())
    outbox.send_due()
    # Older than both, but not over.
    receiver.replies.append(status(500))
    notify(make_event())
    outbox.send_due()
    Delivery.objects.filter(state="failed").update(created_at=timezone.now() - timedelta(days=200))
    assert DeliveryAttempt.objects.count() == 4
    assert outbox.remove_old() == 1
    assert list(Delivery.objects.order_by("pk").values_list("state", flat=True)) == ["sent", "failed"]
    assert DeliveryAttempt.objects.count() == 2
    assert outbox.remove_old() == 0


@pytest.mark.parametrize(("days", "ago"), [(90, 89.9), (0, 4_000)])
def test_what_ended_lately_stays_and_everything_where_the_setting_is_0(
    settings: Settings, everything: Rule, days: int, ago: float
) -> None:
    settings.DELIVERY_DAYS = days
    notify(make_event())
    outbox.send_due()
    ended(ago)
    assert outbox.remove_old() == 0
    assert Delivery.objects.count() == 1


def test_a_digest_goes_after_what_is_in_it(mail: Channel, mail_server: MailServer) -> None:
    rule_create(RuleValues(name="daily", channel=mail, digest_at=time(8)))
    for _ in range(3):
        notify(make_event())
    let_pass(days=2)
    assert outbox.make_digests() == 1
    assert outbox.send_due() == 1
    assert len(mail_server.mails) == 1
    ended(91)
    assert outbox.remove_old() == 3
    assert outbox.remove_old() == 1
    assert Delivery.objects.count() == 0


def test_a_bounded_number_is_removed_at_once(everything: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "_REMOVED_AT_ONCE", 2)
    for _ in range(3):
        notify(make_event())
    outbox.send_due()
    ended(91)
    assert [outbox.remove_old(), outbox.remove_old()] == [2, 1]
