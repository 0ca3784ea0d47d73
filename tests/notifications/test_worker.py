"""A real worker sends by its ticks; killed in the middle, the next one delivers under the same id."""

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from benchweb.notifications import egress
from benchweb.notifications.channels import channel_create
from benchweb.notifications.delivery import outbox
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt, Rule
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.notifications.conftest import SECRET
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import HttpReceiver, Reply, silence, status

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_SECONDS = 60
# An address of this machine, so that nothing leaves it, and another way to write it.
REFUSED, DISGUISED = "127.0.0.9", "127.9"


@pytest.fixture
def environment_of_test(environment_of_test: dict[str, str]) -> dict[str, str]:
    return environment_of_test | {"BENCHWEB_NOTIFY_PRIVATE_NETWORKS": f"127.0.0.0/8 !{REFUSED}/32"}


def await_all_sent() -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while Delivery.objects.exclude(state="sent").exists():
        assert time.monotonic() < give_up_at, list(Delivery.objects.values("state", "attempts", "reason"))
        time.sleep(0.05)


def test_a_killed_worker_loses_nothing_and_doubles_are_known_by_their_id(
    worker: Callable[[], "subprocess.Popen[bytes]"], receiver: HttpReceiver, everything: Rule, released: threading.Event
) -> None:
    receiver.replies.append(silence(released))
    first = worker()
    notify(make_event())
    assert receiver.arrived.wait(PATIENCE_SECONDS)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    let_pass(seconds=outbox.LEASE.total_seconds() + 1)
    for _ in range(4):
        notify(make_event())
    second = worker()
    time.sleep(random.uniform(0, 0.2))
    os.kill(second.pid, signal.SIGKILL)
    second.wait()
    let_pass(seconds=outbox.LEASE.total_seconds() + 1)
    worker()
    await_all_sent()
    sent = set(Delivery.objects.values_list("message_id", flat=True))
    assert len(sent) == 5
    assert set(receiver.ids) == sent


def make_hook(name: str, url: str) -> None:
    channel = channel_create(name=name, settings=ChannelSettings("webhook", url=url, secret=SECRET))
    rule_create(RuleValues(name=name, channel=channel))


def outcome(name: str) -> tuple[set[str], set[str]]:
    """Return the states of a channel's messages, and why its attempts failed."""
    errors = DeliveryAttempt.objects.filter(delivery__channel__name=name).exclude(finished_at=None)
    states = Delivery.objects.filter(channel__name=name).values_list("state", flat=True)
    return set(states), set(errors.values_list("error", flat=True))


def test_bad_receivers_keep_nothing_from_a_good_one_and_the_log_says_what_became_of_each(
    worker: Callable[[], "subprocess.Popen[bytes]"], released: threading.Event
) -> None:
    with HttpReceiver(REFUSED) as refused, ExitStack() as stack:
        replies: dict[str, Reply] = {
            "good": status(200),
            "hangs": silence(released),
            "gone": status(410),
            "fails": status(500, b"<script>alert(1)</script>"),
            "redirects": status(307, Location=refused.url),
        }
        receivers = {name: stack.enter_context(HttpReceiver(otherwise=reply)) for name, reply in replies.items()}
        for name, receiver in receivers.items():
            make_hook(name, receiver.url)
        make_hook("disguised", refused.url.replace(REFUSED, DISGUISED))
        title = "<img src=x onerror=alert(1)> {{ settings.SECRET_KEY }} {0.__class__} %(x)s"
        events = [make_event(title=title) for _ in range(3)]
        for event in events:
            notify(event)
        worker()
        for name in (*receivers, "disguised"):
            await_an_attempt_of(name)
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while outcome("good")[0] != {"sent"}:
            assert time.monotonic() < give_up_at, outcome("good")
            time.sleep(0.05)
        assert [json.loads(each.body)["data"]["title"] for each in receivers["good"].got] == [title] * 3
        assert outcome("good")[1] == {""}
        assert outcome("gone") == ({"given_up"}, {"the receiver answered 410: it wants no more messages"})
        assert Channel.objects.exclude(disabled_at=None).get().name == "gone"
        waiting = {
            "hangs": "no whole answer within 9 s",
            "fails": "the receiver answered 500",
            "redirects": "the receiver answered 307, a redirect, which is not followed",
            "disguised": str(egress.refusal(DISGUISED)),
        }
        for name, error in waiting.items():
            states, errors = outcome(name)
            assert (states <= {"queued", "failed"}, errors) == (True, {error}), name
        assert refused.got == []
        # All are there still, and each has its own id.
        assert Delivery.objects.count() == len(set(Delivery.objects.values_list("message_id", flat=True))) == 18


def await_an_attempt_of(name: str) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not DeliveryAttempt.objects.filter(delivery__channel__name=name).exclude(finished_at=None).exists():
        assert time.monotonic() < give_up_at, f"no attempt of {name} ended"
        time.sleep(0.05)
