"""Webhooks by TLS: the certificate is the name's, although the connection goes to a checked address."""

import datetime
import ipaddress
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pytest_django import Settings

from benchweb.notifications.channels import channel_create, channel_test
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.kinds.webhook import post
from benchweb.notifications.models import DeliveryAttempt
from tests.notifications.conftest import SECRET
from tests.notifications.receivers import HttpReceiver

pytestmark = pytest.mark.django_db


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def certificate(folder: Path, name: str) -> Path:
    """Make a certificate for a name or an address that signs itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([_alternative(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, *private)
    )
    return file


@pytest.fixture
def tls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[HttpReceiver, str], str]:
    """Serve hook.example on loopback by TLS with a certificate for a name; it is trusted."""
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *arguments: Any, **named: Any) -> Any:
        return real("127.0.0.1" if host == "hook.example" else host, port, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    def serve(receiver: HttpReceiver, name: str) -> str:
        file = certificate(tmp_path, name)
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(file)
        receiver.wrap(server)
        trusting = ssl.create_default_context(cafile=str(file))
        monkeypatch.setattr(post, "_tls", lambda: trusting)
        return f"https://hook.example:{receiver.port}/x"

    return serve


def answer_to_test(url: str) -> DeliveryAttempt:
    return channel_test(channel=channel_create(name="x", settings=ChannelSettings("webhook", url=url, secret=SECRET)))


def test_the_certificate_of_the_name_is_taken(receiver: HttpReceiver, tls: Callable[[HttpReceiver, str], str]) -> None:
    assert answer_to_test(tls(receiver, "hook.example")).status == 200
    (got,) = receiver.got
    assert got.headers["host"] == f"hook.example:{receiver.port}"
    assert got.signed_with(SECRET)


def test_the_certificate_of_another_name_is_refused_and_told(
    receiver: HttpReceiver, tls: Callable[[HttpReceiver, str], str]
) -> None:
    attempt = answer_to_test(tls(receiver, "other.example"))
    assert attempt.error.startswith("the certificate of hook.example can't be trusted: ")
    assert "other.example" in attempt.error
    assert receiver.got == []


def test_a_certificate_that_nobody_vouches_for_is_refused(
    receiver: HttpReceiver, tls: Callable[[HttpReceiver, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = tls(receiver, "hook.example")
    monkeypatch.setattr(post, "_tls", ssl.create_default_context)
    attempt = answer_to_test(url)
    assert "can't be trusted" in attempt.error
    assert receiver.got == []


def test_an_address_of_ipv6_is_posted_to(settings: Settings) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = "::1/128"
    with HttpReceiver("::1") as receiver:
        assert answer_to_test(f"http://[::1]:{receiver.port}/x").status == 200
        assert receiver.got[0].headers["host"] == f"[::1]:{receiver.port}"


def test_the_next_address_is_tried_where_the_first_is_closed(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *arguments: Any, **named: Any) -> Any:
        names = ["127.0.0.9", "127.0.0.1"] if host == "hook.example" else [host]
        return [found for name in names for found in real(name, port, *arguments, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert answer_to_test(f"http://hook.example:{receiver.port}/").status == 200
    assert len(receiver.got) == 1
