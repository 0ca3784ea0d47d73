"""Receivers, channels and rules for what is told to people outside."""

import base64
import threading
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from benchweb.notifications.channels import channel_create
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Channel, Rule
from benchweb.notifications.services import RuleValues, rule_create
from tests.notifications.receivers import HttpReceiver, MailServer

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()  # pragma: allowlist secret


@pytest.fixture(autouse=True)
def loopback_allowed(settings: Settings) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = "127.0.0.0/8"
    settings.PUBLIC_URL = "https://bench.example.org"


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with HttpReceiver() as running:
        yield running


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Let hanging receivers go at the end."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def mail_server(settings: Settings) -> Iterator[MailServer]:
    with MailServer() as server:
        settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.DEFAULT_FROM_EMAIL = "bench@example.org"
        yield server


@pytest.fixture
def webhook(db: None, receiver: HttpReceiver) -> Channel:
    return channel_create(name="hook", settings=ChannelSettings("webhook", url=receiver.url, secret=SECRET))


@pytest.fixture
def mail(db: None, mail_server: MailServer) -> Channel:
    return channel_create(name="team", settings=ChannelSettings("email", to=["ann@example.org", "bob@example.org"]))


@pytest.fixture
def everything(webhook: Channel) -> Rule:
    return rule_create(RuleValues(name="everything", channel=webhook))
