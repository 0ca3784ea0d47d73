"""A real worker sends by its ticks; killed in the middle, the next one delivers under the same id."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable

import pytest

from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Delivery, Rule
from benchweb.notifications.routing import notify
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import HttpReceiver, silence

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_SECONDS = 60


@pytest.fixture
def environment_of_test(environment_of_test: dict[str, str]) -> dict[str, str]:
    return environment_of_test | {"BENCHWEB_NOTIFY_PRIVATE_NETWORKS": "127.0.0.0/8"}


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
