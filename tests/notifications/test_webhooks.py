"""Signed webhooks to a real receiver: signatures, retries, refusals, hangs."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.notifications.delivery import outbox, sending
from benchweb.notifications.delivery.retries import PAUSES
from benchweb.notifications.messages import message
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt, Rule
from benchweb.notifications.routing import notify
from tests.conftest import ROOT
from tests.notifications.conftest import SECRET
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import HttpReceiver, dripping, flood, silence, status

pytestmark = pytest.mark.django_db


def only() -> Delivery:
    return Delivery.objects.get()


def test_an_event_is_posted_once_and_signed(receiver: HttpReceiver, everything: Rule) -> None:
    event = make_event()
    notify(event)
    notify(event)
    assert outbox.send_due() == 1
    (got,) = receiver.got
    assert (got.path, got.headers["content-type"]) == ("/hook", "application/json")
    assert got.signed_with(SECRET)
    assert abs(int(got.headers["webhook-timestamp"]) - time.time()) < 5
    document = json.loads(got.body)
    assert (document["type"], document["timestamp"]) == ("alert.open", "2026-11-26T02:00:00+00:00")
    assert document["data"]["id"] == event.id
    assert document["data"]["url"] == "https://bench.example.org/alerts/7"
    delivery = only()
    assert (delivery.state, delivery.message_id) == ("sent", got.headers["webhook-id"])
    assert delivery.message_id.startswith("msg_")
    attempt = delivery.log.get()
    assert (attempt.number, attempt.status, attempt.answer, attempt.error) == (1, 200, "taken", "")
    assert attempt.finished_at is not None


def test_what_happens_in_a_transaction_that_fails_is_told_to_nobody(everything: Rule) -> None:
    from django.db import transaction

    with pytest.raises(RuntimeError), transaction.atomic():
        notify(make_event())
        raise RuntimeError
    assert Delivery.objects.count() == 0


def test_a_500_is_tried_again_later_under_the_same_id(receiver: HttpReceiver, everything: Rule) -> None:
    receiver.replies.append(status(500, b"out of order"))
    notify(make_event())
    assert outbox.send_due() == 1
    delivery = only()
    assert (delivery.state, delivery.failures) == ("failed", 1)
    assert delivery.next_attempt_at is not None
    assert PAUSES[0] * 0.9 < delivery.next_attempt_at - timezone.now() <= PAUSES[0] * 1.1
    assert outbox.send_due() == 0
    let_pass(seconds=6)
    assert outbox.send_due() == 1
    assert only().state == "sent"
    assert len(set(receiver.ids)) == 1
    assert all(got.signed_with(SECRET) for got in receiver.got)
    first, second = DeliveryAttempt.objects.all()
    assert (first.status, first.answer, first.error) == (500, "out of order", "the receiver answered 500")
    assert (second.status, second.error) == (200, "")


def test_500_for_a_day_is_given_up_and_the_log_has_every_attempt(receiver: HttpReceiver, everything: Rule) -> None:
    receiver.replies += [status(500)] * 50
    notify(make_event())
    passed, waits = timedelta(), []
    while (delivery := only()).state != "given_up":
        assert delivery.next_attempt_at is not None
        wait = max(delivery.next_attempt_at - timezone.now(), timedelta())
        waits.append(wait)
        passed += wait
        let_pass(seconds=wait.total_seconds() + 0.1)
        assert outbox.send_due() == 1
    assert timedelta(hours=25) < passed < timedelta(hours=29)
    assert waits[:-1] == sorted(waits[:-1])
    assert delivery.log.count() == len(receiver.got) == len(waits) >= 7
    assert (delivery.reason, delivery.next_attempt_at) == ("the receiver answered 500", None)
    assert len(set(receiver.ids)) == 1


def test_410_disables_the_channel_and_what_waits_says_so(
    receiver: HttpReceiver, webhook: Channel, everything: Rule
) -> None:
    receiver.replies.append(status(410, b"gone"))
    notify(make_event())
    notify(make_event())
    assert outbox.send_due() == 1
    channel = Channel.objects.get()
    assert channel.disabled_at is not None
    assert "410" in channel.disabled_reason
    notify(make_event())
    assert outbox.send_due() == 0
    assert len(receiver.got) == 1
    assert [(each.state, "410" in each.reason) for each in Delivery.objects.all()] == [("given_up", True)] * 3
    assert DeliveryAttempt.objects.get().status == 410


def test_a_receiver_that_hangs_is_left_in_time_and_tried_again(
    receiver: HttpReceiver, everything: Rule, released: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 1.0)
    receiver.replies += [silence(released), dripping(released)]
    notify(make_event())
    for count in (1, 2):
        began = time.monotonic()
        assert outbox.send_due() == 1
        assert 0.9 < time.monotonic() - began < 30
        assert (only().state, only().failures) == ("failed", count)
        let_pass(minutes=6)
    assert outbox.send_due() == 1
    assert only().state == "sent"
    assert len(set(receiver.ids)) == 1
    assert [each.error for each in DeliveryAttempt.objects.all()] == ["no whole answer within 1 s"] * 2 + [""]


def test_of_an_answer_without_end_the_beginning_is_kept(receiver: HttpReceiver, everything: Rule) -> None:
    receiver.replies.append(flood)
    notify(make_event())
    began = time.monotonic()
    assert outbox.send_due() == 1
    assert time.monotonic() - began < 30
    assert DeliveryAttempt.objects.get().answer == "x" * 500


def test_a_redirect_is_not_followed(receiver: HttpReceiver, everything: Rule) -> None:
    receiver.replies.append(status(302, Location=receiver.url))
    notify(make_event())
    outbox.send_due()
    assert len(receiver.got) == 1
    attempt = DeliveryAttempt.objects.get()
    assert (attempt.status, attempt.error) == (302, "the receiver answered 302, a redirect, which is not followed")


def test_a_closed_port_is_told_without_the_path(webhook: Channel, everything: Rule) -> None:
    Channel.objects.update(config={"url": "http://127.0.0.1:1/secret-path"})
    notify(make_event())
    outbox.send_due()
    assert DeliveryAttempt.objects.get().error == "127.0.0.1 can't be reached: Connection refused"


def test_a_worker_that_dies_between_claim_and_sending_loses_nothing(receiver: HttpReceiver, everything: Rule) -> None:
    notify(make_event())
    assert outbox.claim_next() is not None
    assert outbox.send_due() == 0
    let_pass(seconds=outbox.LEASE.total_seconds() + 1)
    assert outbox.send_due() == 1
    delivery = only()
    assert (delivery.state, delivery.attempts, delivery.failures) == ("sent", 2, 0)
    interrupted, second = delivery.log.all()
    assert (interrupted.finished_at, second.status) == (None, 200)


def test_a_late_failure_of_a_claim_that_was_taken_over_changes_nothing(
    receiver: HttpReceiver, everything: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    notify(make_event())
    first = outbox.claim_next()
    assert first is not None
    let_pass(seconds=outbox.LEASE.total_seconds() + 1)
    assert outbox.send_due() == 1
    receiver.replies.append(status(500))
    outbox.attempt(first)
    assert (only().state, only().failures) == ("sent", 0)


def test_a_channel_has_one_message_under_way(receiver: HttpReceiver, everything: Rule) -> None:
    notify(make_event())
    notify(make_event())
    first = outbox.claim_next()
    assert first is not None
    assert outbox.claim_next() is None
    outbox.attempt(first)
    assert outbox.send_due() == 1
    sent = [json.loads(got.body)["data"]["id"] for got in receiver.got]
    assert sent == list(Delivery.objects.order_by("pk").values_list("event_id", flat=True))


@pytest.mark.django_db(transaction=True)
def test_a_process_killed_while_it_sends_loses_nothing(
    receiver: HttpReceiver, everything: Rule, released: threading.Event, environment_of_test: dict[str, str]
) -> None:
    receiver.replies.append(silence(released))
    notify(make_event())
    code = "import django; django.setup(); from benchweb.notifications.delivery import outbox; outbox.send_due()"
    environment = environment_of_test | {
        "DJANGO_SETTINGS_MODULE": "benchweb.settings",
        "BENCHWEB_NOTIFY_PRIVATE_NETWORKS": "127.0.0.0/8",
    }
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=ROOT)
    assert receiver.arrived.wait(30)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert only().state == "queued"
    let_pass(seconds=outbox.LEASE.total_seconds() + 1)
    assert outbox.send_due() == 1
    assert only().state == "sent"
    assert len(receiver.ids) == 2
    assert len(set(receiver.ids)) == 1


def test_a_payload_is_read_back_as_it_was_told() -> None:
    event = make_event(title="a\nb\x00c", host_ids=(1, 2), labels=("rack-7",))
    read = message("msg_1", {"type": "alert.open", "timestamp": "", "data": event.document})
    assert read.title == "a b c"
    assert event.document["host_ids"] == [1, 2]
