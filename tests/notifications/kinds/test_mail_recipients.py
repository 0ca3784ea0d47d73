"""A mail that a server takes for some of its recipients only: who has it, who is tried again, and what is told."""

import pytest
from django.test import Client

from benchweb.notifications.channels import channel_create, channel_test
from benchweb.notifications.delivery import outbox
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.factories import make_user
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import MailServer

pytestmark = pytest.mark.django_db
ANN, BOB, CAT = "ann@example.org", "bob@example.org", "cat@example.org"


@pytest.fixture(autouse=True)
def channel(mail_server: MailServer) -> Channel:
    channel = channel_create(name="team", settings=ChannelSettings("email", to=[ANN, BOB, CAT]))
    rule_create(RuleValues(name="mail", channel=channel))
    return channel


def states() -> dict[str, str]:
    return {address: each["state"] for address, each in Delivery.objects.get().recipients.items()}


def test_one_recipient_refused_for_good_is_partly_sent_and_says_who_and_why(mail_server: MailServer) -> None:
    mail_server.refused[BOB] = ["550 no such user"]
    notify(make_event())
    assert outbox.send_due() == 1
    delivery, attempt = Delivery.objects.get(), DeliveryAttempt.objects.get()
    assert (delivery.state, delivery.next_attempt_at, delivery.failures) == ("partial", None, 1)
    reason = "the mail server refused 1 of 3 recipients: bob@example.org: 550 no such user"
    assert (delivery.reason, attempt.error) == (reason, reason)
    assert (attempt.status, attempt.answer) == (550, "bob@example.org: 550 no such user")
    assert states() == {ANN: "taken", BOB: "refused", CAT: "taken"}
    assert mail_server.envelopes == [[ANN, CAT]]
    let_pass(days=1)
    assert outbox.send_due() == 0


def test_a_recipient_refused_for_now_is_tried_again_alone(mail_server: MailServer) -> None:
    mail_server.refused[CAT] = ["450 greylisted", "250 fine"]
    notify(make_event())
    assert outbox.send_due() == 1
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.recipients[CAT]) == ("failed", {"state": "waiting", "answer": "450 greylisted"})
    let_pass(minutes=1)
    assert outbox.send_due() == 1
    assert mail_server.envelopes == [[ANN, BOB], [CAT]]
    assert mail_server.mails[0]["Message-ID"] == mail_server.mails[1]["Message-ID"]
    assert mail_server.mails[1]["To"] == CAT
    delivery.refresh_from_db()
    assert (delivery.state, delivery.reason) == ("sent", "")
    assert set(states().values()) == {"taken"}


def test_refused_for_good_and_for_now_end_as_partly_sent_after_the_last_attempt(mail_server: MailServer) -> None:
    mail_server.refused |= {BOB: ["550 no such user"], CAT: ["450 later", "450 later", "250 fine"]}
    notify(make_event())
    for _ in range(3):
        assert outbox.send_due() == 1
        let_pass(hours=1)
    assert mail_server.envelopes == [[ANN], [CAT]]
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == ("partial", 3)
    assert delivery.reason == "the mail server refused 1 of 3 recipients: bob@example.org: 550 no such user"


def test_what_is_refused_for_now_for_a_day_is_given_up_as_partly_sent(mail_server: MailServer) -> None:
    mail_server.refused[CAT] = ["450 later"]
    notify(make_event())
    while Delivery.objects.get().state in ("queued", "failed"):
        assert outbox.send_due() == 1
        let_pass(hours=9, minutes=59)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.recipients[CAT]["state"]) == ("partial", "waiting")
    assert "cat@example.org: 450 later" in delivery.reason
    assert mail_server.envelopes == [[ANN, BOB]]


def test_all_refused_for_good_is_given_up_at_once(mail_server: MailServer) -> None:
    mail_server.refused |= {address: ["550 no such user"] for address in (ANN, BOB, CAT)}
    notify(make_event())
    assert outbox.send_due() == 1
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.reason) == ("given_up", "the mail server refused every recipient")
    assert mail_server.envelopes == []


def test_a_server_out_of_order_between_two_attempts_loses_no_recipient(mail_server: MailServer) -> None:
    mail_server.refused[CAT] = ["450 later", "250 fine"]
    notify(make_event())
    assert outbox.send_due() == 1
    mail_server.refusals.append("451 disk full")
    let_pass(minutes=1)
    assert outbox.send_due() == 1
    assert "the mail server answered 451" in Delivery.objects.get().reason
    let_pass(hours=1)
    assert outbox.send_due() == 1
    assert (Delivery.objects.get().state, mail_server.envelopes) == ("sent", [[ANN, BOB], [CAT]])


def test_a_server_that_hangs_up_at_a_recipient_has_taken_the_mail_for_nobody(mail_server: MailServer) -> None:
    mail_server.refused[BOB] = ["421 too many", "250 fine"]
    notify(make_event())
    assert outbox.send_due() == 1
    assert states() == {ANN: "waiting", BOB: "waiting", CAT: "waiting"}
    let_pass(minutes=1)
    assert outbox.send_due() == 1
    assert (Delivery.objects.get().state, mail_server.envelopes) == ("sent", [[ANN, BOB, CAT]])


def test_a_domain_in_its_own_letters_is_told_apart_too(mail_server: MailServer) -> None:
    channel = channel_create(name="intl", settings=ChannelSettings("email", to=[ANN, "bob@münchen.example"]))
    mail_server.refused["bob@xn--mnchen-3ya.example"] = ["550 no such user"]
    attempt = channel_test(channel=channel)
    assert (attempt.delivery.state, attempt.answer) == ("partial", "bob@münchen.example: 550 no such user")


def test_the_log_shows_who_was_refused_and_the_answer(
    mail_server: MailServer, channel: Channel, client: Client
) -> None:
    mail_server.refused |= {BOB: ["550 <b>no such user</b>"], CAT: ["450 greylisted"]}
    notify(make_event())
    assert outbox.send_due() == 1
    client.force_login(make_user("ada", "secret words"))
    page = client.get(f"/notifications/channels/{channel.pk}").content.decode()
    refusals = "bob@example.org: 550 &lt;b&gt;no such user&lt;/b&gt;; cat@example.org: 450 greylisted"
    assert f"the mail server refused 2 of 3 recipients: {refusals}" in page
    Delivery.objects.update(state="partial")
    assert "partly sent" in client.get(f"/notifications/channels/{channel.pk}").content.decode()
