"""Mail to a real server: both parts, a stable id, nothing injected, refusals told."""

import socket
import threading
import time

import pytest
from django.utils import timezone
from pytest_django import Settings

from benchweb.notifications.channels import channel_test
from benchweb.notifications.delivery import outbox, sending
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt, Rule
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import MailServer, body_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rule(mail: Channel) -> Rule:
    return rule_create(RuleValues(name="mail", channel=mail))


def test_a_mail_has_text_and_html_a_link_and_a_stable_id(mail_server: MailServer) -> None:
    mail_server.refusals.append("451 try again later")
    notify(make_event())
    assert outbox.send_due() == 1
    assert Delivery.objects.get().state == "failed"
    attempt = DeliveryAttempt.objects.get()
    assert (attempt.status, attempt.answer) == (451, "try again later")
    let_pass(minutes=1)
    assert outbox.send_due() == 1
    (mail,) = mail_server.mails
    delivery = Delivery.objects.get()
    assert delivery.state == "sent"
    assert mail["Message-ID"] == f"<{delivery.message_id}@example.org>"
    assert (mail["From"], mail["To"]) == ("bench@example.org", "ann@example.org, bob@example.org")
    assert mail["Subject"] == "Throughput of a → b fell by 9 %"
    text = body_of(mail, "plain").replace("\r\n", "\n")
    assert "From 9.4 to 8.6 Gbit/s.\nhttps://bench.example.org/alerts/7" in text
    assert 'href="https://bench.example.org/alerts/7"' in body_of(mail, "html")


def test_markup_and_line_breaks_are_text(mail_server: MailServer) -> None:
    notify(make_event(title="<script>alert(1)</script>\r\nBcc: eve@example.org", text="{{ settings }} <img src=x>"))
    assert outbox.send_due() == 1
    (mail,) = mail_server.mails
    assert mail["Bcc"] is None
    assert mail["Subject"] == "<script>alert(1)</script> Bcc: eve@example.org"
    html = body_of(mail, "html")
    assert "<script>" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "{{ settings }}" in html


def test_a_server_that_refuses_is_quoted(mail_server: MailServer, mail: Channel) -> None:
    mail_server.refusals.append("550 no such list")
    attempt = channel_test(channel=mail)
    assert (attempt.status, attempt.answer) == (550, "no such list")
    assert attempt.error == "the mail server answered 550"
    assert Delivery.objects.get().state == "given_up"


def test_without_a_server_the_log_says_what_to_set(settings: Settings, mail: Channel) -> None:
    settings.EMAIL_HOST = ""
    assert "No mail server is set" in channel_test(channel=mail).error


def test_a_server_that_hangs_is_left_in_time(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, mail: Channel, mail_server: MailServer
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 1.0)
    threads = threading.active_count()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EMAIL_PORT = silent.getsockname()[1]
        began = time.monotonic()
        attempt = channel_test(channel=mail)
        assert time.monotonic() - began < 30
    assert attempt.error == "no whole answer within 1 s"
    assert threading.active_count() <= threads + 1


def test_a_mail_server_that_is_out_of_order_for_a_day_is_given_up_and_the_log_has_every_attempt(
    mail_server: MailServer,
) -> None:
    mail_server.refusals += ["451 out of order"] * 50
    notify(make_event())
    while (delivery := Delivery.objects.get()).state != "given_up":
        assert delivery.next_attempt_at is not None
        let_pass(seconds=max(0.0, (delivery.next_attempt_at - timezone.now()).total_seconds()) + 0.1)
        assert outbox.send_due() == 1
    assert (delivery.reason, delivery.next_attempt_at) == ("the mail server answered 451", None)
    assert set(delivery.log.values_list("status", "answer")) == {(451, "out of order")}
    assert delivery.log.count() == 50 - len(mail_server.refusals) >= 7
    assert mail_server.mails == []
