"""Where messages may go: no private address, by a redirect or a name that resolves anew neither."""

import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from pytest_django import Settings

from benchweb.notifications import egress
from benchweb.notifications.channels import channel_create, channel_test
from benchweb.notifications.delivery import outbox
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.notifications.conftest import SECRET
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import HttpReceiver, status

# Allowed and refused are two addresses of this machine, so that nothing leaves it.
ALLOWED, REFUSED = "127.0.0.2", "127.0.0.1"


@pytest.fixture
def two_receivers(settings: Settings) -> Iterator[tuple[HttpReceiver, HttpReceiver]]:
    """Return an allowed receiver and a refused one, at one port."""
    settings.NOTIFY_PRIVATE_NETWORKS = f"{ALLOWED}/32"
    with HttpReceiver(ALLOWED) as allowed, HttpReceiver(REFUSED, allowed.port) as refused:
        yield allowed, refused


@pytest.fixture
def resolves(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let a name resolve to these addresses, one each time."""
    real = socket.getaddrinfo

    def set_up(*addresses: str) -> list[str]:
        left = list(addresses)

        def resolve(host: str, *arguments: Any, **named: Any) -> Any:
            if host != "moving.example":
                return real(host, *arguments, **named)
            return real(left.pop(0) if len(left) > 1 else left[0], *arguments, **named)

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        return left

    return set_up


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200",
        "168.63.129.16", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1",
        "64:ff9b::a00:1", "2002:a00:1::", "fe80::1%eth0", "not an address", "",
    ],
)  # fmt: skip
def test_private_and_special_addresses_are_refused(settings: Settings, address: str) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = ""
    assert not egress.admits(address)


def test_public_addresses_and_named_networks_are_admitted(settings: Settings) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = "10.1.0.0/16 !10.1.9.0/24"
    assert [egress.admits(each) for each in ("1.1.1.1", "2606:4700::1111", "10.1.2.3", "10.1.9.3", "10.2.0.1")] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.django_db
def test_a_webhook_to_a_private_address_is_not_made(settings: Settings) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = ""
    for url in ("http://127.0.0.1/x", "https://[::1]/x", "http://169.254.169.254/latest", "http://10.0.0.1:8080/"):
        with pytest.raises(NotificationError) as refusal:
            channel_create(name="x", settings=ChannelSettings("webhook", url=url, secret=SECRET))
        assert refusal.value.field == "url"
        assert "BENCHWEB_NOTIFY_PRIVATE_NETWORKS" in refusal.value.message
    assert Channel.objects.count() == 0


@pytest.mark.django_db
def test_a_webhook_to_a_name_of_a_private_address_is_refused_and_told(
    two_receivers: tuple[HttpReceiver, HttpReceiver], resolves: Callable[..., list[str]]
) -> None:
    _, refused = two_receivers
    resolves(REFUSED)
    url = f"http://moving.example:{refused.port}/"
    channel = channel_create(name="x", settings=ChannelSettings("webhook", url=url, secret=SECRET))
    attempt = channel_test(channel=channel)
    assert attempt.error.startswith("moving.example is a private or special address")
    assert refused.got == []


@pytest.mark.django_db
def test_a_webhooks_name_is_resolved_once_and_the_checked_address_is_used(
    two_receivers: tuple[HttpReceiver, HttpReceiver], resolves: Callable[..., list[str]]
) -> None:
    allowed, refused = two_receivers
    left = resolves(ALLOWED, REFUSED)
    url = f"http://moving.example:{allowed.port}/x?a=b"
    channel = channel_create(name="x", settings=ChannelSettings("webhook", url=url, secret=SECRET))
    assert channel_test(channel=channel).status == 200
    assert left == [REFUSED]
    (got,) = allowed.got
    assert (got.path, got.headers["host"]) == ("/x?a=b", f"moving.example:{allowed.port}")
    assert refused.got == []


@pytest.mark.django_db
def test_a_webhooks_redirect_to_a_refused_address_leads_nowhere(
    two_receivers: tuple[HttpReceiver, HttpReceiver],
) -> None:
    allowed, refused = two_receivers
    allowed.replies.append(status(307, Location=refused.url))
    channel = channel_create(name="x", settings=ChannelSettings("webhook", url=allowed.url, secret=SECRET))
    attempt = channel_test(channel=channel)
    assert (attempt.status, attempt.error) == (307, "the receiver answered 307, a redirect, which is not followed")
    assert (len(allowed.got), refused.got) == (1, [])


@pytest.mark.django_db
def test_a_messengers_name_is_checked_at_every_attempt(
    two_receivers: tuple[HttpReceiver, HttpReceiver], resolves: Callable[..., list[str]]
) -> None:
    allowed, refused = two_receivers
    resolves(ALLOWED, REFUSED)
    address = f"mmost://moving.example:{allowed.port}/{'x' * 24}?image=no"
    channel = channel_create(name="chat", settings=ChannelSettings("apprise", secret=address))
    assert channel_test(channel=channel).error == ""
    assert channel_test(channel=channel).error == egress.refusal(REFUSED)
    assert (len(allowed.got), refused.got) == (1, [])


@pytest.mark.django_db
def test_what_was_refused_is_kept_and_goes_once_its_address_is_allowed(
    two_receivers: tuple[HttpReceiver, HttpReceiver], resolves: Callable[..., list[str]], settings: Settings
) -> None:
    _, refused = two_receivers
    resolves(REFUSED)
    url = f"http://moving.example:{refused.port}/"
    channel = channel_create(name="x", settings=ChannelSettings("webhook", url=url, secret=SECRET))
    rule_create(RuleValues(name="all", channel=channel))
    notify(make_event())
    assert outbox.send_due() == 1
    assert (Delivery.objects.get().state, refused.got) == ("failed", [])
    settings.NOTIFY_PRIVATE_NETWORKS = "127.0.0.0/8"
    let_pass(minutes=1)
    assert outbox.send_due() == 1
    assert (Delivery.objects.get().state, len(refused.got)) == ("sent", 1)
    errors = list(DeliveryAttempt.objects.values_list("error", flat=True))
    assert errors == [egress.refusal("moving.example"), ""]


def test_a_library_that_follows_a_redirect_gets_nowhere(two_receivers: tuple[HttpReceiver, HttpReceiver]) -> None:
    allowed, refused = two_receivers
    allowed.replies.append(status(302, Location=refused.url))
    with pytest.raises(egress.EgressRefused, match=REFUSED):
        egress.guarded(lambda: urllib3.PoolManager().request("GET", allowed.url, retries=2), seconds=5)
    assert (len(allowed.got), refused.got) == (1, [])


def test_a_library_that_resolves_anew_gets_nowhere(
    two_receivers: tuple[HttpReceiver, HttpReceiver], resolves: Callable[..., list[str]]
) -> None:
    allowed, refused = two_receivers
    resolves(ALLOWED, REFUSED)
    url = f"http://moving.example:{allowed.port}/"
    assert egress.resolved("moving.example", allowed.port) == [ALLOWED]
    with pytest.raises(egress.EgressRefused):
        egress.guarded(lambda: urllib3.PoolManager().request("GET", url, retries=False), seconds=5)
    assert (allowed.got, refused.got) == ([], [])


def test_a_guarded_call_starts_no_program_and_uses_no_socket_file(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    for call in (
        lambda: subprocess.run(["true"], check=True),
        lambda: socket.socket(socket.AF_UNIX).connect(path),
    ):
        with pytest.raises(egress.EgressRefused):
            egress.guarded(call, seconds=5)


def test_what_is_not_guarded_connects_as_ever(receiver: HttpReceiver, settings: Settings) -> None:
    egress.guarded(lambda: None, seconds=1)
    settings.NOTIFY_PRIVATE_NETWORKS = ""
    assert urllib3.PoolManager().request("GET", receiver.url).status == 200
