"""A zone's rules change while messages wait for a time of day there: they go when its clocks show it, once each."""

import os
import subprocess
import time
import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from typing import Any

import pytest
from django.utils import timezone

from benchweb.notifications.delivery import held, outbox
from benchweb.notifications.models import Channel, Delivery, Rule
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create, rule_update
from tests.factories import make_channel
from tests.notifications.events import clock, make_event
from tests.notifications.receivers import HttpReceiver, status
from tests.schedules.slots.zone_rules import ZONE, Zones

HOUR = timedelta(hours=1)
PATIENCE_SECONDS = 60
BEFORE, LATER = "<+03>-3", "<+02>-2"
QUIET: dict[str, Any] = {"quiet_from": time_of_day(23), "quiet_until": time_of_day(7), "time_zone": ZONE}
DIGEST: dict[str, Any] = {"digest_at": time_of_day(7), "time_zone": ZONE}
# 07:00 there, by the rules of before.
SEVEN = datetime(2026, 11, 27, 4, tzinfo=UTC)


def held_by(rule: dict[str, Any], channel: Channel) -> Delivery:
    rule_create(RuleValues(name="rule", channel=channel, **rule))
    notify(make_event())
    return Delivery.objects.get(state="held")


@pytest.mark.django_db
@pytest.mark.parametrize("rule", [QUIET, DIGEST])
def test_what_waits_goes_when_the_clocks_show_its_time_by_the_new_rules(
    zones: Zones, receiver: HttpReceiver, webhook: Channel, monkeypatch: pytest.MonkeyPatch, rule: dict[str, Any]
) -> None:
    zones.enact(BEFORE)
    clock(monkeypatch, "2026-11-26T23:30")
    waiting = held_by(rule, webhook)
    # The edited rule is for what comes.
    rule_update(rule=Rule.objects.get(), values=RuleValues(name="rule", channel=webhook, time_zone="Asia/Shanghai"))
    assert held.follow_zones() == 0
    zones.enact(LATER)
    assert (held.follow_zones(), held.follow_zones()) == (1, 0)
    waiting.refresh_from_db()
    assert (waiting.next_attempt_at or waiting.digest_due_at) == SEVEN + HOUR
    assert "2026-11-27 05:00 UTC" in waiting.reason
    clock(monkeypatch, "2026-11-27T04:30")
    assert (outbox.make_digests(), outbox.send_due()) == (0, 0)
    clock(monkeypatch, "2026-11-27T05:00")
    outbox.make_digests()
    assert (outbox.send_due(), outbox.send_due()) == (1, 0)
    assert len(receiver.got) == 1


@pytest.mark.django_db
def test_what_moves_into_the_past_goes_at_once(
    zones: Zones, receiver: HttpReceiver, webhook: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones.enact(LATER)
    clock(monkeypatch, "2026-11-27T04:30")
    held_by(QUIET, webhook)
    assert outbox.send_due() == 0
    zones.enact(BEFORE)
    assert (held.follow_zones(), outbox.send_due()) == (1, 1)


@pytest.mark.django_db
def test_a_retry_that_waits_for_the_end_of_quiet_hours_follows(
    zones: Zones, receiver: HttpReceiver, webhook: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones.enact(BEFORE)
    receiver.replies.append(status(500))
    clock(monkeypatch, "2026-11-26T19:59:58")
    rule_create(RuleValues(name="rule", channel=webhook, **QUIET))
    notify(make_event())
    assert outbox.send_due() == 1
    assert Delivery.objects.get().next_attempt_at == SEVEN
    zones.enact(LATER)
    assert held.follow_zones() == 1
    assert Delivery.objects.get().next_attempt_at == SEVEN + HOUR


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_starts_with_new_rules_moves_what_waits(
    zones: Zones, worker: Callable[[], "subprocess.Popen[bytes]"], environment_of_test: dict[str, str]
) -> None:
    zones.enact(BEFORE)
    later = (timezone.now() + 6 * HOUR).astimezone(zoneinfo.ZoneInfo(ZONE)).time().replace(microsecond=0)
    waiting = held_by({"digest_at": later, "time_zone": ZONE}, make_channel())
    before = waiting.digest_due_at
    assert before is not None
    zones.enact(LATER)
    environment_of_test["PYTHONTZPATH"] = os.pathsep.join(zoneinfo.TZPATH)
    worker()
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while waiting.digest_due_at == before:
        assert time.monotonic() < give_up_at, "the worker moved nothing"
        time.sleep(0.05)
        waiting.refresh_from_db()
    assert waiting.digest_due_at == before + HOUR
