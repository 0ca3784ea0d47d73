"""Messengers by Apprise: what is taken, where it may go, and that no token is told."""

import io
import json
import logging
import threading
import time
from collections.abc import Iterator

import apprise
import pytest
from pytest_django import Settings

from benchweb.notifications import egress
from benchweb.notifications.channels import channel_create, channel_test
from benchweb.notifications.delivery import outbox, sending
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.apprise.messenger import SCHEMAS
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Channel, DeliveryAttempt
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.notifications.events import make_event
from tests.notifications.receivers import HttpReceiver, dripping, status

TOKEN = "aBcDeFgHiJkLmNoPqRsTuVwX"

pytestmark = pytest.mark.django_db


def make_channel(url: str) -> Channel:
    return channel_create(name="chat", settings=ChannelSettings("apprise", secret=url))


@pytest.fixture
def chat(receiver: HttpReceiver) -> Channel:
    return make_channel(f"mmost://127.0.0.1:{receiver.port}/{TOKEN}?image=no")


@pytest.fixture
def root_log() -> Iterator[io.StringIO]:
    """Return what the root logger's handlers are given, at any level."""
    root, kept = logging.getLogger(), io.StringIO()
    handler = logging.StreamHandler(kept)
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    yield kept
    root.removeHandler(handler)
    root.setLevel(level)


def test_a_message_arrives_with_its_title_text_and_link(receiver: HttpReceiver, chat: Channel) -> None:
    rule_create(RuleValues(name="chat", channel=chat))
    notify(make_event())
    assert outbox.send_due() == 1
    (got,) = receiver.got
    assert got.path == f"/hooks/{TOKEN}"
    text = json.loads(got.body)["text"]
    assert "Throughput of a → b fell by 9 %" in text
    assert "https://bench.example.org/alerts/7" in text
    assert DeliveryAttempt.objects.get().error == ""


def test_a_name_calls_nobody_and_hides_no_link(receiver: HttpReceiver, chat: Channel) -> None:
    rule_create(RuleValues(name="chat", channel=chat))
    notify(make_event(title="@channel <!here> <@U1> a@ b", text="[log in](http://evil.example) {{ settings }} @all"))
    assert outbox.send_due() == 1
    text = json.loads(receiver.got[0].body)["text"]
    for call in ("@channel", "<!here", "<@", "@U1", "](", "@all"):
        assert call not in text
    assert text.replace("\u200b", "").splitlines()[:2] == [
        "@channel <!here> <@U1> a@ b",
        "[log in](http://evil.example) {{ settings }} @all",
    ]


def test_the_services_answer_is_kept_and_no_token(receiver: HttpReceiver, chat: Channel, root_log: io.StringIO) -> None:
    receiver.replies.append(status(403, f"unknown hook {TOKEN}".encode()))
    attempt = channel_test(channel=chat)
    assert attempt.status == 403
    assert "unknown hook …" in attempt.answer
    assert "Mattermost" in attempt.error
    told = f"{attempt.answer} {attempt.error} {root_log.getvalue()}"
    assert TOKEN not in told
    assert TOKEN.encode() not in bytes(Channel.objects.get().secret_encrypted)
    assert chat.config == {"schema": "mmost"}


def test_a_redirect_is_not_followed_whatever_the_address_says(receiver: HttpReceiver) -> None:
    channel = make_channel(f"mmost://127.0.0.1:{receiver.port}/{TOKEN}?redirect=yes&retry=5&verify=no")
    receiver.replies.append(status(302, Location=receiver.url))
    assert channel_test(channel=channel).status == 302
    assert len(receiver.got) == 1


def test_a_private_address_is_refused_where_it_connects(
    receiver: HttpReceiver, chat: Channel, settings: Settings
) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = ""
    assert "private or special address" in channel_test(channel=chat).error
    assert receiver.got == []


@pytest.mark.parametrize("admitted", ["127.0.0.0/8", "127.0.0.2/32"])
def test_a_proxy_is_not_used_for_it_would_connect_wherever_it_is_told_to(
    receiver: HttpReceiver, chat: Channel, settings: Settings, monkeypatch: pytest.MonkeyPatch, admitted: str
) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = admitted
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with HttpReceiver("127.0.0.2") as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.2:{proxy.port}")
        attempt = channel_test(channel=chat)
    assert proxy.got == []
    is_admitted = admitted == "127.0.0.0/8"
    assert [each.path for each in receiver.got] == [f"/hooks/{TOKEN}"] * is_admitted
    assert attempt.error == ("" if is_admitted else egress.refusal("127.0.0.1"))


def test_a_service_that_drips_is_left_in_time_with_its_thread(
    receiver: HttpReceiver, chat: Channel, released: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 1.0)
    receiver.replies.append(dripping(released))
    began = time.monotonic()
    assert channel_test(channel=chat).error == "no whole answer within 1 s"
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "url",
    [
        "windows://", "dbus://", "gnome://", "macosx://", "syslog://", "glib://", "kde://", "blink1://", "file:///etc",
        "mailto://a:b@example.org", "mqtt://example.org/x", "rsyslog://example.org", "json://example.org",
        "apprise://example.org/token", "aprs://a:b@c", "slack", "slack://", "http://example.org/", "",
    ],
)  # fmt: skip
def test_other_services_are_refused_in_words(url: str) -> None:
    with pytest.raises(NotificationError) as refusal:
        make_channel(url)
    assert refusal.value.field == "secret"
    assert Channel.objects.count() == 0


def test_every_service_that_is_taken_is_one_of_apprises() -> None:
    known = {
        schema
        for entry in apprise.Apprise().details()["schemas"]
        for kind in ("protocols", "secure_protocols")
        for schema in entry[kind] or ()
    }
    assert SCHEMAS - known == set()
