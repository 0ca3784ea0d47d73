"""Channels, rules and maintenance windows on their pages."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.hosts.services import host_create
from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Channel, MaintenanceWindow, Rule
from benchweb.notifications.routing import notify
from benchweb.web.notifications.rule_views import morning_after
from tests.factories import make_channel
from tests.notifications.conftest import SECRET, loopback_allowed, receiver  # noqa: F401
from tests.notifications.events import make_event
from tests.notifications.receivers import HttpReceiver, MailServer, status


@pytest.fixture
def hook(signed_in: Client, receiver: HttpReceiver) -> Channel:  # noqa: F811
    form = {"name": "hook", "url": receiver.url, "secret": SECRET}
    response = signed_in.post("/notifications/channels/new/webhook", form)
    channel = Channel.objects.get()
    assert response["Location"] == f"/notifications/channels/{channel.pk}"
    return channel


def test_a_channel_is_tested_and_its_log_shows_the_answer(
    signed_in: Client,
    hook: Channel,
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    receiver.replies.append(status(503, b"<b>busy</b>"))
    page = signed_in.post(f"/notifications/channels/{hook.pk}/test", follow=True).content.decode()
    assert "The test failed: the receiver answered 503" in page
    assert "&lt;b&gt;busy&lt;/b&gt;" in page
    assert "<b>busy" not in page
    page = signed_in.post(f"/notifications/channels/{hook.pk}/test", follow=True).content.decode()
    assert "The receiver took the test: 200 taken" in page
    overview = signed_in.get("/notifications").content.decode()
    assert "hook" in overview
    assert "taken" in overview
    assert SECRET not in page + overview


def test_what_a_mail_server_says_of_a_recipient_is_told_once(signed_in: Client, settings: Settings) -> None:
    signed_in.post("/notifications/channels/new/email", {"name": "mail", "to": "ann@example.org\nbad@example.org"})
    channel = Channel.objects.get()
    with MailServer() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        server.refused["bad@example.org"] = ["550 no such user"]
        signed_in.post(f"/notifications/channels/{channel.pk}/test")
    # On the channel's page once as what was told last, once as why it is partly sent, once by the attempt.
    counts = [
        signed_in.get(path).content.decode().count("550 no such user")
        for path in (f"/notifications/channels/{channel.pk}", f"/notifications/channels/{channel.pk}", "/notifications")
    ]
    assert counts == [3, 2, 1]


def test_a_secret_stays_when_it_is_left_empty(signed_in: Client, hook: Channel, receiver: HttpReceiver) -> None:  # noqa: F811
    before = bytes(hook.secret_encrypted)
    path = f"/notifications/channels/{hook.pk}/edit"
    assert SECRET not in signed_in.get(path).content.decode()
    signed_in.post(path, {"name": "team", "url": receiver.url, "secret": ""})
    hook.refresh_from_db()
    assert (hook.name, bytes(hook.secret_encrypted)) == ("team", before)
    page = signed_in.post(path, {"name": "team", "url": "https://example.org/", "secret": ""}).content.decode()
    assert "Another address needs the secret of the receiver there" in page


def test_a_disabled_channel_is_enabled_and_an_archived_one_is_gone(
    signed_in: Client,
    hook: Channel,
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    receiver.replies.append(status(410))
    page = signed_in.post(f"/notifications/channels/{hook.pk}/test", follow=True).content.decode()
    assert "it wants no more messages" in page
    signed_in.post(f"/notifications/channels/{hook.pk}/enable")
    hook.refresh_from_db()
    assert hook.disabled_at is None
    question = signed_in.get(f"/notifications/channels/{hook.pk}/archive").content.decode()
    assert "Nothing is deleted: it can be restored." in question
    signed_in.post(f"/notifications/channels/{hook.pk}/archive")
    assert "No channels yet" in signed_in.get("/notifications").content.decode()
    restore = f"/notifications/channels/{hook.pk}/restore"
    assert f'action="{restore}"' in signed_in.get("/notifications?archived=1").content.decode()
    assert f'action="{restore}"' in signed_in.get(f"/notifications/channels/{hook.pk}").content.decode()
    signed_in.post(restore)
    hook.refresh_from_db()
    assert (hook.archived_at, hook.disabled_at) == (None, None)


def test_a_mail_channel_and_a_messenger_are_made(signed_in: Client) -> None:
    signed_in.post("/notifications/channels/new/email", {"name": "team", "to": "ann@example.org\nbob@example.org"})
    assert Channel.objects.get().config == {"to": ["ann@example.org", "bob@example.org"]}
    page = signed_in.post("/notifications/channels/new/apprise", {"name": "chat", "secret": "syslog://"})
    assert "syslog:// is not among the services" in page.content.decode()
    page = signed_in.post("/notifications/channels/new/email", {"name": "x", "to": "ann"})
    assert "is not an e-mail address" in page.content.decode()
    assert Channel.objects.count() == 1
    assert signed_in.get("/notifications/channels/new/fax").status_code == 404


def test_a_rule_is_made_changed_and_archived(signed_in: Client) -> None:
    channel = make_channel()
    form = {
        "name": "nights", "channel": channel.pk, "least_severity": "warning", "alert_kinds": ["change", "missing"],
        "quiet_from": "22:00", "quiet_until": "07:00", "time_zone": "Asia/Shanghai",
    }  # fmt: skip
    assert signed_in.post("/notifications/rules/new", form)["Location"] == "/notifications"
    rule = Rule.objects.get()
    assert (rule.alert_kinds, f"{rule.quiet_until:%H:%M}") == (["change", "missing"], "07:00")
    page = signed_in.get("/notifications").content.decode()
    assert "at once, quiet 22:00–07:00 Asia/Shanghai" in page
    assert "from warning · change, missing" in page
    # A word of another version is offered where a rule has it, and stays.
    edit = signed_in.get(f"/notifications/rules/{rule.pk}/edit").content.decode()
    assert edit.count(" checked") == 2
    assert 'value="missing"' in edit
    path = f"/notifications/rules/{rule.pk}/edit"
    assert 'value="22:00"' in signed_in.get(path).content.decode()
    refused = signed_in.post(path, form | {"digest_at": "08:00"}).content.decode()
    assert "A digest has its time of day" in refused
    signed_in.post(path, form | {"digest_at": "08:00", "quiet_from": "", "quiet_until": ""})
    assert "digest at 08:00 Asia/Shanghai" in signed_in.get("/notifications").content.decode()
    signed_in.post(f"/notifications/rules/{rule.pk}/archive")
    assert "No rules yet" in signed_in.get("/notifications").content.decode()
    restore = f"/notifications/rules/{rule.pk}/restore"
    assert f'action="{restore}"' in signed_in.get("/notifications?archived=1").content.decode()
    Channel.objects.update(archived_at=datetime(2026, 12, 1, tzinfo=UTC))
    assert "The channel team is archived: restore it first." in signed_in.post(restore, follow=True).content.decode()
    Channel.objects.update(archived_at=None)
    assert "Restored: nights." in signed_in.post(restore, follow=True).content.decode()
    assert signed_in.get(restore).status_code == 405


def test_a_maintenance_window_is_made_changed_and_archived(signed_in: Client) -> None:
    host = host_create(name="a")
    form = {"name": "cables", "host": host.pk, "begins_at": "2026-12-01T02:00", "ends_at": "2026-12-01T04:00"}
    assert signed_in.post("/notifications/maintenance/new", form)["Location"] == "/notifications"
    window = MaintenanceWindow.objects.get()
    assert window.begins_at == datetime(2026, 12, 1, 2, tzinfo=UTC)
    path = f"/notifications/maintenance/{window.pk}/edit"
    assert 'value="2026-12-01T02:00"' in signed_in.get(path).content.decode()
    page = signed_in.post(path, form | {"host_label": "rack-7"}).content.decode()
    assert "A maintenance window is of one host" in page
    signed_in.post(path, form | {"host": "", "host_label": "rack-7"})
    assert "labelled rack-7" in signed_in.get("/notifications").content.decode()
    signed_in.post(f"/notifications/maintenance/{window.pk}/archive")
    assert "No maintenance planned" in signed_in.get("/notifications").content.decode()
    restore = f"/notifications/maintenance/{window.pk}/restore"
    assert f'action="{restore}"' in signed_in.get("/notifications?archived=1").content.decode()
    signed_in.post(restore)
    assert MaintenanceWindow.objects.get().archived_at is None


def test_the_log_costs_the_same_however_long_it_is(
    signed_in: Client, everything_sent: Channel, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(8):
        page = signed_in.get(f"/notifications/channels/{everything_sent.pk}").content.decode()
    assert page.count("msg_") == 12


@pytest.fixture
def everything_sent(signed_in: Client, hook: Channel) -> Channel:
    from benchweb.notifications.services import RuleValues, rule_create

    rule_create(RuleValues(name="all", channel=hook))
    for _ in range(12):
        notify(make_event())
    assert outbox.send_due() == 12
    return hook


def test_a_first_channel_comes_with_its_rule_and_is_tested_at_once(
    signed_in: Client,
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    empty = signed_in.get("/notifications").content.decode()
    assert 'class="btn" href="/notifications/channels/new/webhook"' in empty
    form = signed_in.get("/notifications/channels/new/webhook").content.decode()
    assert 'value="Webhook"' in form
    assert 'data-generates="whsec_"' in form
    sent = {"name": "Webhook", "url": receiver.url, "secret": SECRET, "rule": "critical", "action": "test"}
    page = signed_in.post("/notifications/channels/new/webhook", sent, follow=True).content.decode()
    assert "The receiver took the test: 200 taken" in page
    rule = Rule.objects.get()
    assert (rule.channel.name, rule.least_severity, rule.alert_kinds, rule.transitions) == (
        "Webhook",
        "critical",
        [],
        [],
    )
    assert rule.name == "everything critical to Webhook"
    refused = sent | {"url": "nowhere", "name": "other"}
    assert "The address can" in signed_in.post("/notifications/channels/new/webhook", refused).content.decode()
    assert (Channel.objects.count(), Rule.objects.count()) == (1, 1)
    signed_in.post("/notifications/channels/new/webhook", sent | {"name": "bare", "rule": ""})
    assert (Channel.objects.count(), Rule.objects.count()) == (2, 1)


def test_a_host_is_silenced_until_the_readers_morning(signed_in: Client) -> None:
    host = host_create(name="alder")
    signed_in.cookies["zone"] = "Asia/Shanghai"
    page = signed_in.get(f"/hosts/{host.pk}").content.decode()
    assert f'action="/hosts/{host.pk}/silence"' in page
    told = signed_in.post(f"/hosts/{host.pk}/silence", follow=True).content.decode()
    assert "Nobody is notified of alerts of alder until" in told
    window = MaintenanceWindow.objects.get()
    assert (window.host, window.name) == (host, "Maintenance of alder")
    assert window.begins_at <= timezone.now() < window.ends_at
    morning = window.ends_at.astimezone(ZoneInfo("Asia/Shanghai"))
    assert (morning.hour, morning.minute) == (8, 0)
    assert "Silenced until" in told
    assert f"/notifications/maintenance/{window.pk}/archive" in told
    assert "/silence" not in told


@pytest.mark.parametrize(
    ("now", "morning"),
    [("2026-03-01T22:00", "2026-03-02"), ("2026-03-01T02:00", "2026-03-01"), ("2026-03-01T07:00", "2026-03-02")],
)
def test_tonight_ends_with_the_next_morning_that_is_hours_off(now: str, morning: str) -> None:
    zone = ZoneInfo("Europe/Berlin")
    until = morning_after(datetime.fromisoformat(now).replace(tzinfo=zone).astimezone(UTC), zone)
    assert f"{until:%Y-%m-%d %H:%M}" == f"{morning} 08:00"


def test_other_times_begin_with_the_host_that_one_came_from(signed_in: Client) -> None:
    host = host_create(name="alder")
    page = signed_in.get(f"/notifications/maintenance/new?host={host.pk}").content.decode()
    assert f'<option value="{host.pk}" selected>' in page
    assert 'value="Maintenance of alder"' in page
    assert signed_in.get("/notifications/maintenance/new?host=nonsense").status_code == 200
