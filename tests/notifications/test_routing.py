"""Which rule wants what, quiet hours, digests and maintenance."""

import json
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from benchweb.hosts.services import host_create
from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Channel, Delivery, Rule
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, WindowValues, archive, rule_create, rule_update, window_create
from benchweb.notifications.timing import end_of_quiet, next_time_of_day
from tests.factories import make_channel, make_endpoint, make_environment, make_plan
from tests.notifications.events import clock, let_pass, make_event
from tests.notifications.receivers import HttpReceiver, MailServer, body_of

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("now", "ends"),
    [
        ("2026-11-26T21:59:59", None),
        ("2026-11-26T22:00", "2026-11-27T06:00"),
        ("2026-11-27T05:59", "2026-11-27T06:00"),
        ("2026-11-27T06:00", None),
        # Clocks go back within: the hour is one more.
        ("2026-10-24T21:30", "2026-10-25T06:00"),
    ],
)
def test_quiet_hours_go_over_midnight_in_their_zone(now: str, ends: str | None) -> None:
    found = end_of_quiet(datetime.fromisoformat(now).replace(tzinfo=UTC), time(23), time(7), BERLIN)
    assert found == (ends and datetime.fromisoformat(ends).replace(tzinfo=UTC))


def test_a_time_of_day_that_the_clocks_skip_comes_at_the_end_of_the_gap() -> None:
    now = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert next_time_of_day(now, time(2, 30), BERLIN) == datetime(2026, 3, 29, 1, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("rule", "event", "is_wanted"),
    [
        ({}, {}, True),
        ({"least_severity": "warning"}, {"severity": "warning"}, True),
        ({"least_severity": "critical"}, {"severity": "warning"}, False),
        ({"alert_kinds": ["change", "missing"]}, {"kind": "missing"}, True),
        ({"alert_kinds": ["change"]}, {"kind": "missing"}, False),
        ({"transitions": ["open"]}, {"transition": "recovered"}, False),
        ({"host_label": "rack-7"}, {"labels": ("rack-6", "rack-7")}, True),
        ({"host_label": "rack-7"}, {"labels": ("rack-77",)}, False),
    ],
)
def test_a_rule_takes_what_it_names(
    webhook: Channel, rule: dict[str, Any], event: dict[str, Any], is_wanted: bool
) -> None:
    rule_create(RuleValues(name="rule", channel=webhook, **rule))
    notify(make_event(**event))
    assert Delivery.objects.count() == int(is_wanted)


@pytest.mark.django_db
def test_a_rule_may_be_for_one_environment_and_one_plan(webhook: Channel) -> None:
    environment, plan = make_environment(), make_plan()
    rule_create(RuleValues(name="rule", channel=webhook, environment=environment, plan=plan))
    for event in ({}, {"environment_ids": (environment.pk,)}, {"plan_id": plan.pk}):
        notify(make_event(**event))
    assert Delivery.objects.count() == 0
    notify(make_event(environment_ids=(environment.pk,), plan_id=plan.pk))
    assert Delivery.objects.count() == 1


@pytest.mark.django_db
def test_an_archived_rule_takes_nothing(everything: Rule) -> None:
    archive(row=everything)
    notify(make_event())
    assert Delivery.objects.count() == 0


@pytest.mark.django_db
def test_two_rules_for_one_channel_make_one_message_the_sooner(webhook: Channel, everything: Rule) -> None:
    rule_create(RuleValues(name="daily", channel=webhook, digest_at=time(8)))
    notify(make_event())
    assert Delivery.objects.get().state == "queued"


@pytest.mark.django_db
def test_quiet_hours_hold_and_send_at_their_end(
    receiver: HttpReceiver, webhook: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet: dict[str, Any] = {"quiet_from": time(23), "quiet_until": time(7), "time_zone": "Europe/Berlin"}
    rule_create(RuleValues(name="rule", channel=webhook, **quiet))
    clock(monkeypatch, "2026-11-26T23:30")
    notify(make_event())
    assert outbox.send_due() == 0
    held = Delivery.objects.get()
    assert (held.state, held.reason) == ("held", "Quiet hours, until 2026-11-27 06:00 UTC.")
    clock(monkeypatch, "2026-11-27T05:59")
    assert outbox.send_due() == 0
    clock(monkeypatch, "2026-11-27T06:00")
    assert outbox.send_due() == 1
    assert Delivery.objects.get().state == "sent"
    assert len(receiver.got) == 1


@pytest.mark.django_db
def test_a_retry_does_not_disturb_quiet_hours(
    receiver: HttpReceiver, webhook: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.notifications.receivers import status

    rule_create(RuleValues(name="rule", channel=webhook, quiet_from=time(23), quiet_until=time(7)))
    receiver.replies.append(status(500))
    clock(monkeypatch, "2026-11-26T22:59:58")
    notify(make_event())
    assert outbox.send_due() == 1
    held = Delivery.objects.get()
    assert (held.state, held.next_attempt_at) == ("held", datetime(2026, 11, 27, 7, tzinfo=UTC))


@pytest.mark.django_db
def test_a_digest_tells_all_in_one_message_at_its_time(
    mail_server: MailServer, mail: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_create(RuleValues(name="daily", channel=mail, digest_at=time(8), time_zone="Asia/Shanghai"))
    clock(monkeypatch, "2026-11-26T20:00")
    for number in range(3):
        notify(make_event(title=f"Alert {number}", severity="critical" if number == 1 else "info"))
    assert {each.reason for each in Delivery.objects.all()} == {"For the digest of 2026-11-27 00:00 UTC."}
    clock(monkeypatch, "2026-11-26T23:59")
    assert (outbox.make_digests(), outbox.send_due()) == (0, 0)
    clock(monkeypatch, "2026-11-27T00:00")
    assert (outbox.make_digests(), outbox.make_digests(), outbox.send_due()) == (1, 0, 1)
    (got,) = mail_server.mails
    assert got["Subject"] == "3 alerts: 1 critical, 2 info"
    text = body_of(got, "plain")
    assert [line for line in text.splitlines() if line.startswith("Alert")] == ["Alert 0", "Alert 1", "Alert 2"]
    sentence = "No new regressions: 0 new, 0 ongoing, 0 recovered; 0 runs incomplete."
    assert text.splitlines()[0] == f"{sentence} All of it is of the 24 hours until 2026-11-27 08:00 in Asia/Shanghai."
    assert sentence in body_of(got, "html")
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent"}
    assert Delivery.objects.filter(digest=None).count() == 1


def joins(number: int, **fields: Any) -> None:
    """Tell of another measure that joined alert 7."""
    values = {"thread": "alert-7", "transition": "joined", "title": f"a → b and {number} more series"}
    notify(make_event(**values | {"text": f"another measure got worse\nMeasure {number}: 1 → 2"} | fields))


@pytest.mark.django_db
def test_eight_measures_that_join_an_alert_are_one_message_more(
    receiver: HttpReceiver, webhook: Channel, everything: Rule
) -> None:
    notify(make_event(thread="alert-7"))
    assert outbox.send_due() == 1
    for number in range(1, 9):
        joins(number, severity="critical" if number == 4 else "warning")
    joins(1, thread="alert-8")
    assert outbox.send_due() == 0
    let_pass(minutes=10)
    assert outbox.send_due() == 2
    bodies = [json.loads(got.body)["data"] for got in receiver.got]
    assert [body["transition"] for body in bodies] == ["open", "joined", "joined"]
    assert bodies[1]["text"].splitlines() == [
        "another measure got worse",
        *(f"Measure {number}: 1 → 2" for number in range(1, 9)),
    ]
    assert (bodies[1]["title"], bodies[1]["severity"]) == ("a → b and 8 more series", "critical")
    assert bodies[2]["thread"] == "alert-8"


@pytest.mark.django_db
def test_what_joins_before_an_alert_is_told_is_told_with_it(
    webhook: Channel, everything: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_update(rule=everything, values=RuleValues("all", webhook, quiet_from=time(23), quiet_until=time(7)))
    clock(monkeypatch, "2026-11-26T23:30")
    notify(make_event(thread="alert-7", text="open"))
    joins(1)
    held = Delivery.objects.get()
    assert (held.state, held.payload["data"]["transition"]) == ("held", "open")
    assert held.payload["data"]["text"].splitlines() == ["open", "another measure got worse", "Measure 1: 1 → 2"]


@pytest.mark.django_db
def test_what_became_of_an_alert_is_told_after_what_joined_it(
    receiver: HttpReceiver, webhook: Channel, everything: Rule
) -> None:
    notify(make_event(id="first", thread="alert-7"))
    outbox.send_due()
    joins(1)
    assert Delivery.objects.latest("pk").reason.startswith("Until 20")
    notify(make_event(thread="alert-7", transition="recovered", told_by=("first",)))
    assert outbox.send_due() == 2
    transitions = [json.loads(got.body)["data"]["transition"] for got in receiver.got]
    assert transitions == ["open", "joined", "recovered"]


@pytest.mark.django_db
def test_a_digest_that_fails_is_tried_again_with_all_that_is_in_it(mail_server: MailServer, mail: Channel) -> None:
    rule_create(RuleValues(name="daily", channel=mail, digest_at=time(8)))
    mail_server.refusals.append("451 later")
    notify(make_event())
    notify(make_event())
    let_pass(hours=24)
    assert (outbox.make_digests(), outbox.send_due()) == (1, 1)
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["failed", "held", "held"]
    let_pass(minutes=1)
    assert (outbox.make_digests(), outbox.send_due()) == (0, 1)
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent"}
    assert len(mail_server.mails) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("by", ["host", "host_label", "environment"])
def test_maintenance_mutes_and_says_so(webhook: Channel, everything: Rule, by: str) -> None:
    host, environment, now = host_create(name="a", labels=["rack-7"]), make_environment(), timezone.now()
    concerned: dict[str, Any] = {by: {"host": host, "host_label": "rack-7", "environment": environment}[by]}
    hour = timedelta(hours=1)
    window_create(WindowValues(name="new cables", begins_at=now - hour, ends_at=now + hour, **concerned))
    concerned = {"host_ids": (host.pk,), "labels": ("rack-7",), "environment_ids": (environment.pk,)}
    notify(make_event(**concerned))
    notify(make_event(host_ids=(host.pk + 1,), labels=("rack-8",), environment_ids=(environment.pk + 1,)))
    other, muted = Delivery.objects.all()
    assert (muted.state, other.state) == ("muted", "queued")
    assert muted.reason.startswith("Muted by the maintenance window new cables, until ")
    assert muted.finished_at is not None


@pytest.mark.django_db
def test_maintenance_that_is_over_or_archived_mutes_nothing(webhook: Channel, everything: Rule) -> None:
    host, now = host_create(name="a"), timezone.now()
    hour = timedelta(hours=1)
    window_create(WindowValues(name="over", begins_at=now - 2 * hour, ends_at=now - hour, host=host))
    window_create(WindowValues(name="to come", begins_at=now + hour, ends_at=now + 2 * hour, host=host))
    archive(row=window_create(WindowValues(name="off", begins_at=now - hour, ends_at=now + hour, host=host)))
    notify(make_event(host_ids=(host.pk,)))
    assert Delivery.objects.get().state == "queued"


@pytest.mark.django_db
def test_a_changed_rule_holds_for_what_comes(webhook: Channel, everything: Rule) -> None:
    rule_update(rule=everything, values=RuleValues(name="worst", channel=webhook, least_severity="critical"))
    notify(make_event())
    assert Delivery.objects.count() == 0


@pytest.mark.django_db
def test_maintenance_of_one_of_many_hosts_mutes_nothing_that_all_of_them_show() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    hosts = [make_endpoint().host for _ in range(3)]
    now = timezone.now()
    window_create(WindowValues(name="reboot", begins_at=now, ends_at=now + timedelta(hours=1), host=hosts[0]))
    notify(make_event(host_ids=tuple(host.pk for host in hosts)))
    assert Delivery.objects.get().state == "queued"
