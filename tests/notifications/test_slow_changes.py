"""Slow changes are told by digests, in a section of their own: never at once, and never as an alert."""

import json
from datetime import time
from typing import Any

import pytest
from django.utils import timezone

from benchweb.hosts.models import Environment, Host, Pair
from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Channel, Delivery
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, WindowValues, rule_create, window_create
from benchweb.regressions.models import SlowChange
from benchweb.regressions.slow.looks import take_look
from tests.factories import make_pair
from tests.notifications.events import clock, let_pass, make_event
from tests.notifications.receivers import HttpReceiver, MailServer, body_of
from tests.regressions.slow.nights import LAST, ZONE, look, part_of, step, write_nights

DIGEST: dict[str, Any] = {"digest_at": time(7), "time_zone": "Asia/Shanghai"}


def changed_pair(environment: str = "lab") -> Pair:
    """Return a pair whose throughput fell by 3 % a month ago."""
    pair = make_pair(environment=environment)
    write_nights(pair, step())
    return pair


def test_a_digest_tells_them_in_a_section_of_their_own_with_a_link_to_the_nights(
    mail: Channel, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_create(RuleValues(name="daily", channel=mail, **DIGEST))
    clock(monkeypatch, "2026-11-20 22:00")
    pair = changed_pair()
    (change,) = look(pair)
    part = part_of(change)
    (held,) = Delivery.objects.all()
    assert (held.state, held.reason) == ("held", "For the digest of 2026-11-20 23:00 UTC.")
    notify(make_event())
    clock(monkeypatch, "2026-11-20 23:00")
    assert (outbox.make_digests(), outbox.send_due()) == (1, 1)
    (got,) = mail_server.mails
    text = body_of(got, "plain")
    assert "Slowly changing" in body_of(got, "html")
    alert, _, slow = text.partition("Slowly changing")
    assert "Throughput of a → b fell by 9 %" in alert
    assert f"{pair}: TCP stream · Throughput, received 9.41 → 9.10 Gbit/s" in slow
    assert f"a step around {part.since} · 90 nights" in slow
    assert f"https://bench.example.org/history?series={part.series_id}&over=90d" in slow
    assert Delivery.objects.get(digest=None).payload["data"]["title"].endswith("fell by 9 %; 1 slow change")


def test_a_digest_of_slow_changes_alone_says_so_and_posts_them_apart(webhook: Channel, receiver: HttpReceiver) -> None:
    rule_create(RuleValues(name="daily", channel=webhook, **DIGEST))
    (change,) = look(pair := changed_pair())
    let_pass(days=1)
    assert (outbox.make_digests(), outbox.send_due()) == (1, 1)
    body = json.loads(receiver.got[-1].body)
    assert (body["type"], body["data"]["events"]) == ("alert.digest", [])
    assert body["data"]["title"].startswith(f"Slowly changing: {pair}")
    (item,) = body["data"]["slow_changes"]
    assert (item["id"], item["severity"], item["transition"]) == (f"slow-{change.pk}", "info", "slow")
    assert item["environment_id"] == pair.environment_id
    assert item["host_ids"] == sorted([pair.source.host_id, pair.sink.host_id])


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"quiet_from": time(20), "quiet_until": time(6)},
        DIGEST | {"least_severity": "warning"},
        DIGEST | {"transitions": ("recovered",)},
        DIGEST | {"alert_kinds": ("absence",)},
        DIGEST | {"host_label": "rack-9"},
    ],
)
def test_rules_without_a_digest_of_such_changes_are_told_nothing(mail: Channel, values: dict[str, Any]) -> None:
    rule_create(RuleValues(name="rule", channel=mail, **values))
    look(changed_pair())
    assert not Delivery.objects.exists()


def test_a_channel_is_told_once_by_the_soonest_of_its_rules(mail: Channel) -> None:
    rule_create(RuleValues(name="daily", channel=mail, **DIGEST))
    rule_create(RuleValues(name="changes", channel=mail, **DIGEST | {"alert_kinds": ("change",)}))
    pair = changed_pair()
    look(pair)
    assert not take_look(pair.environment_id, LAST, ZONE)
    assert Delivery.objects.count() == 1


def test_maintenance_of_that_hour_mutes_nothing(mail: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, "2026-11-20 22:00")
    rule_create(RuleValues(name="daily", channel=mail, **DIGEST))
    pair = changed_pair()
    span: dict[str, Any] = {"begins_at": timezone.now().replace(hour=1), "ends_at": timezone.now().replace(hour=23)}
    window_create(WindowValues(name="reboots", environment=pair.environment, **span))
    look(pair)
    assert Delivery.objects.get().state == "held"


@pytest.mark.parametrize("model", [Environment, Host])
def test_samples_are_looked_at_and_told_to_nobody(mail: Channel, model: type[Environment] | type[Host]) -> None:
    rule_create(RuleValues(name="daily", channel=mail, **DIGEST))
    pair = changed_pair()
    model._default_manager.update(is_synthetic=True)
    look(pair)
    assert SlowChange.objects.count() == 1
    assert not Delivery.objects.exists()


def test_what_is_not_written_is_not_told(mail: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    rule_create(RuleValues(name="daily", channel=mail, **DIGEST))
    pair = changed_pair()

    def fails(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patched, pytest.raises(OSError):
        patched.setattr("benchweb.notifications.slow_changes.notify_in_digests", fails)
        look(pair)
    assert (SlowChange.objects.count(), Delivery.objects.count()) == (0, 0)
