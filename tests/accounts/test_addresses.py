"""Whose address a request has: the peer's, and what a trusted proxy says, but never what the client says itself."""

import os
import subprocess
import sys
from typing import Any

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from benchweb.accounts.addresses import address_group, client_address, is_from_this_machine


def address(peer: str, forwarded: str | None = None) -> str:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_address(RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers))


def test_without_a_trusted_proxy_the_header_is_not_believed(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = []
    assert address("127.0.0.1", "192.0.2.1") == "127.0.0.1"


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "198.51.100.9, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "198.51.100.9, 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("::ffff:127.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", None, "127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "a\nb", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.9, nonsense", "127.0.0.1"),
        ("192.0.2.7", "198.51.100.9", "192.0.2.7"),
        ("", "198.51.100.9", "unknown"),
    ],
)
def test_a_trusted_proxy_is_believed_for_its_own_peer_only(
    settings: Settings, peer: str, forwarded: str | None, expected: str
) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.0/8", "10.0.0.0/8"]
    assert address(peer, forwarded) == expected


def trusted(**environment: str) -> list[str]:
    words = [sys.executable, "-c", "from benchweb import settings; print(*settings.TRUSTED_PROXIES)"]
    paths = {name: os.environ[name] for name in ("PATH", "BENCHWEB_HOME") if name in os.environ}
    return subprocess.check_output(words, env=paths | environment, text=True).split()


def test_only_this_machine_is_a_proxy_unless_others_are_named() -> None:
    assert trusted() == []
    assert trusted(BENCHWEB_BEHIND_TLS="1") == ["127.0.0.0/8", "::1"]
    gateway = {"BENCHWEB_BEHIND_TLS": "1", "BENCHWEB_OUTSIDE_GATEWAY": "172.29.71.129"}
    assert trusted(**gateway) == ["127.0.0.0/8", "::1", "172.29.71.129"]
    assert trusted(**gateway, BENCHWEB_TRUSTED_PROXIES="10.0.0.5") == ["10.0.0.5"]
    assert trusted(BENCHWEB_OUTSIDE_GATEWAY="172.29.71.129") == []


def test_a_container_beside_chooses_no_address_and_a_proxy_nobody_named_is_told_of(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.BEHIND_TLS, settings.TRUSTED_PROXIES = True, ["172.29.71.129"]
    assert address("172.29.71.129", "192.0.2.1") == "192.0.2.1"
    for forged in ("192.0.2.1", "192.0.2.2"):
        assert address("172.29.71.131", forged) == "172.29.71.131"
    assert caplog.text.count("X-Forwarded-For from 172.29.71.131 is not believed") == 1
    assert "172.29.71.129 is not believed" not in caplog.text


def test_an_ipv6_network_counts_as_one_address() -> None:
    assert address_group("2001:db8::1:2:3:4") == address_group("2001:db8::ffff:0:0:1") == "2001:db8::/64"
    assert address_group("192.0.2.1") == "192.0.2.1"
    assert address_group("unknown") == "unknown"


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"])
def test_a_loopback_name_asked_from_loopback_is_this_machine(host: str) -> None:
    assert is_from_this_machine(RequestFactory().get("/", REMOTE_ADDR="127.0.0.1", HTTP_HOST=host))


@pytest.mark.parametrize(
    "changed",
    [
        {"HTTP_HOST": "bench.example.org"},
        {"HTTP_HOST": "127.0.0.1.example.org"},
        {"HTTP_HOST": "localhost.example.org:8000"},
        {"HTTP_HOST": ""},
        {"REMOTE_ADDR": "192.0.2.1"},
        {"REMOTE_ADDR": ""},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
    ],
)
def test_anything_else_is_not(changed: dict[str, str]) -> None:
    environment: dict[str, Any] = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost:8000"} | changed
    request = RequestFactory().get("/", **environment)
    assert not is_from_this_machine(request)
