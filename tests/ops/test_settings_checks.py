"""A setting that can't work is told by its name before anything starts."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from benchweb.ops.running.home import Home
from benchweb.ops.running.processes import SetupError
from benchweb.ops.running.up import Up
from benchweb.ops.settings_checks import settings_are_usable


def messages() -> list[str]:
    return [message.msg for message in settings_are_usable()]


def test_the_settings_of_the_tests_pass() -> None:
    assert messages() == []


def test_a_short_secret_key_is_refused(settings: Settings) -> None:
    settings.SECRET_KEY = "x" * 31
    assert messages() == ["BENCHWEB_SECRET_KEY has fewer than 32 characters."]


def test_a_database_url_of_another_kind_is_refused(settings: Settings) -> None:
    settings.DATABASE_URL = "mysql://localhost/benchweb"
    assert messages() == ["BENCHWEB_DATABASE_URL must begin with postgresql:// or postgres://."]


def test_a_redis_url_without_a_scheme_is_refused(settings: Settings) -> None:
    settings.REDIS_URL = "localhost:6379"
    assert messages() == ["BENCHWEB_REDIS_URL must begin with redis:// or rediss:// or unix://."]


def test_a_negative_number_of_days_is_refused_and_0_is_none(settings: Settings) -> None:
    settings.DELIVERY_DAYS = -1
    assert messages() == ["BENCHWEB_DELIVERY_DAYS is below 0."]
    settings.DELIVERY_DAYS = 0
    settings.INTERVAL_DAYS = -1
    assert messages() == ["BENCHWEB_INTERVAL_DAYS is below 0."]
    settings.INTERVAL_DAYS, settings.DETAIL_DAYS = 0, -1
    assert messages() == ["BENCHWEB_DETAIL_DAYS is below 0."]
    settings.DETAIL_DAYS = 0
    assert messages() == []


def test_a_default_role_that_does_not_exist_is_refused(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "owner"
    assert messages() == ["BENCHWEB_DEFAULT_ROLE must be one of viewer, operator, editor, admin."]


@pytest.mark.parametrize("other", ["bench.example.org", "*", ".localhost.example", "192.0.2.1", "0.0.0.0", "[::]"])
def test_a_demo_that_others_can_reach_is_refused(settings: Settings, other: str) -> None:
    settings.DEMO = True
    settings.ALLOWED_HOSTS = ["localhost", other]
    (message,) = settings_are_usable()
    assert message.msg == f"The demo is on while BENCHWEB_ALLOWED_HOSTS names {other}."
    assert message.is_serious()


def test_a_demo_on_loopback_passes(settings: Settings) -> None:
    settings.DEMO = True
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "127.0.1.1", "[::1]"]
    assert messages() == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ALLOWED_HOSTS", ["localhost", "bench.example.org"], "BENCHWEB_ALLOWED_HOSTS names bench.example.org"),
        ("ALLOWED_HOSTS", ["*"], "BENCHWEB_ALLOWED_HOSTS names *"),
        ("PUBLIC_URL", "https://bench.example.org", "BENCHWEB_PUBLIC_URL is https://bench.example.org"),
        ("BEHIND_TLS", True, "BENCHWEB_BEHIND_TLS is 1"),
    ],
)
def test_errors_with_their_source_are_for_this_machine_only(
    settings: Settings, name: str, value: object, told: str
) -> None:
    settings.ALLOWED_HOSTS, settings.DEBUG = ["localhost", "127.0.0.1"], True
    assert messages() == []
    setattr(settings, name, value)
    (message,) = settings_are_usable()
    assert (message.msg, message.is_serious()) == (f"BENCHWEB_DEBUG is 1 while {told}.", True)
    settings.DEBUG = False
    assert messages() == []


def test_the_web_server_does_not_start_with_a_setting_that_is_refused(environment_of_test: dict[str, str]) -> None:
    environment = environment_of_test | {"BENCHWEB_DEMO": "1", "BENCHWEB_ALLOWED_HOSTS": "localhost,bench.example.org"}
    command = [sys.executable, "-c", "import benchweb.asgi"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "The demo is on while BENCHWEB_ALLOWED_HOSTS names bench.example.org." in done.stderr


def test_up_does_not_start_a_demo_that_others_are_to_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWEB_ALLOWED_HOSTS", "127.0.0.1, bench.example.org")
    with pytest.raises(SetupError, match=r"names bench\.example\.org, but the demo is for this machine only"):
        Up(Home(tmp_path), 1, demo=True)._check_demo()
    Up(Home(tmp_path), 1, demo=False)._check_demo()


def test_a_catalog_overlay_that_is_no_file_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.CATALOG_OVERLAY = str(tmp_path / "none.json")
    assert messages() == [f"BENCHWEB_CATALOG_OVERLAY names no file: {tmp_path}/none.json."]


def test_a_unit_of_the_private_catalog_that_could_be_markup_is_refused(settings: Settings, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.json"
    overlay.write_text('{"metrics": {"level": {"unit": "<plaintext>"}, "size": {"unit": "B"}}}')
    settings.CATALOG_OVERLAY = str(overlay)
    assert messages() == [
        "BENCHWEB_CATALOG_OVERLAY: the unit of level in metrics: A unit can't hold any of < > & \" ': leave them out."
    ]


def test_a_trusted_proxy_that_is_no_address_is_refused(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.5", "192.168.3.0/24", "::1", "proxy.example.org"]
    assert messages() == [
        "BENCHWEB_TRUSTED_PROXIES holds proxy.example.org, which is neither an address nor a network."
    ]


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, "0"),
        ({"BENCHWEB_HSTS_SECONDS": "60"}, "0"),
        ({"BENCHWEB_BEHIND_TLS": "1"}, "31536000"),
        ({"BENCHWEB_BEHIND_TLS": "1", "BENCHWEB_HSTS_SECONDS": "60"}, "60"),
        ({"BENCHWEB_BEHIND_TLS": "1", "BENCHWEB_HSTS_SECONDS": "0"}, "0"),
    ],
)
def test_browsers_are_told_to_come_by_tls_only_behind_it(environment: dict[str, Any], seconds: str) -> None:
    command = [sys.executable, "-c", "from benchweb import settings; print(settings.SECURE_HSTS_SECONDS)"]
    answer = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == seconds


@pytest.mark.django_db
def test_an_answer_by_tls_tells_so(client: Client, settings: Settings) -> None:
    settings.SECURE_HSTS_SECONDS = 60
    assert client.get("/login", secure=True)["Strict-Transport-Security"] == "max-age=60"
    assert "Strict-Transport-Security" not in client.get("/login")


@pytest.mark.parametrize("url", ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://mail.example.org:x"])
def test_a_mail_server_that_is_none_is_refused_without_its_password(settings: Settings, url: str) -> None:
    settings.SMTP_URL = url.replace("://", "://ann:secret-word@")
    (message,) = messages()
    assert message == "BENCHWEB_SMTP_URL names no mail server."


# pragma: allowlist nextline secret
@pytest.mark.parametrize("url", ["smtp://mail", "smtps://a:b%40@mail.example.org:465", "smtp+starttls://[2001:db8::1]"])
def test_a_mail_server_is_taken_in_each_form(settings: Settings, url: str) -> None:
    settings.SMTP_URL = url
    assert messages() == []


def test_networks_for_notifications_and_a_public_url_are_read(settings: Settings) -> None:
    settings.NOTIFY_PRIVATE_NETWORKS = "10.0.0.0/8 x"
    settings.PUBLIC_URL = "bench.example.org"
    networks, url = messages()
    assert networks.startswith("BENCHWEB_NOTIFY_PRIVATE_NETWORKS: ")
    assert url == "BENCHWEB_PUBLIC_URL must begin with http:// or https://."


@pytest.mark.parametrize(
    ("base_path", "public_url", "told"),
    [
        ("/bench", "", []),
        ("/tools/bench", "https://tools.example.org/tools/bench/", []),
        ("/bench", "https://tools.example.org", []),
        ("bench", "", ["BENCHWEB_BASE_PATH is no path: bench"]),
        ("/be nch", "", ["BENCHWEB_BASE_PATH is no path: /be nch"]),
        ("/runs/b", "", ["BENCHWEB_BASE_PATH begins as a page does: /runs/b"]),
        ("/b", "https://tools.example.org/c", ["BENCHWEB_PUBLIC_URL has the path /c, and BENCHWEB_BASE_PATH is /b."]),
        (
            "",
            "https://tools.example.org/bench/",
            ["BENCHWEB_PUBLIC_URL has the path /bench/, and BENCHWEB_BASE_PATH is empty."],
        ),
    ],
)
def test_the_path_of_the_pages_is_one_and_that_of_their_address(
    settings: Settings, base_path: str, public_url: str, told: list[str]
) -> None:
    settings.BASE_PATH, settings.PUBLIC_URL = base_path, public_url
    assert messages() == told
