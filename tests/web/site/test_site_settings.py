"""The settings of the installation: who may change them, what takes them up, and what the environment keeps."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Role
from benchweb.accounts.permissions import access_of
from benchweb.accounts.roles.grants import role_set
from benchweb.hosts.addresses import network_policy
from benchweb.hosts.models import Host
from benchweb.notifications.egress import admits
from benchweb.ops import synthetic
from benchweb.sharing.services import default_expiry
from benchweb.site.models import SiteSetting
from benchweb.site.values import chosen, site_setting

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_what_an_admin_saves_is_in_force_and_in_the_audit_log(by_admin: Client) -> None:
    vera = User.objects.create_user("vera")
    sent = {"share_days": "3", "default_role": "operator", "engine_networks": "10.1.0.0/16"}
    assert by_admin.post("/settings", sent).headers["Location"] == "/settings"
    expiry = default_expiry()
    assert expiry is not None
    assert timedelta(days=2, hours=23) < expiry - timezone.now() <= timedelta(days=3)
    assert access_of(vera).everywhere == Role.OPERATOR
    assert (network_policy().admits("10.1.2.3"), network_policy().admits("10.2.2.3")) == (True, False)
    assert 'value="10.1.0.0/16"' in by_admin.get("/settings").content.decode()
    by_admin.post("/settings", sent | {"share_days": ""})
    assert site_setting("SHARE_DAYS") == 30
    entries = AuditEntry.objects.filter(table="site_sitesetting", object_name="SHARE_DAYS").order_by("pk")
    assert [(each.action, each.user_name, each.changes["value"]) for each in entries] == [
        ("created", "ada", [None, 3]),
        ("deleted", "ada", [3, None]),
    ]


def test_what_the_environment_sets_is_shown_and_stays(by_admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    SiteSetting.objects.create(name="SHARE_DAYS", value=3)
    monkeypatch.setenv("BENCHWEB_SHARE_DAYS", "30")
    assert site_setting("SHARE_DAYS") == 30
    page = by_admin.get("/settings").content.decode()
    assert "Set in the environment: <code>BENCHWEB_SHARE_DAYS</code>" in page
    by_admin.post("/settings", {"share_days": "5"})
    assert (site_setting("SHARE_DAYS"), SiteSetting.objects.get(name="SHARE_DAYS").value) == (30, 3)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("audit_days", "7", "0, or at least 30 days."),
        ("share_days", "-1", "greater than or equal to 0"),
        ("public_url", "bench.example.org", "Write an address such as https://bench.example.org."),
        ("public_url", "https://tools.example.org/bench/", "These pages are at another path of their host"),
        ("engine_networks", "10.0.0.1/8", "is not a network"),
        ("notify_private_networks", "lab", "is not a network"),
        ("default_time_zone", "Mars/Olympus", "There is no time zone of this name"),
        ("default_role", "owner", "Select a valid choice"),
    ],
)
def test_a_wrong_value_is_told_at_its_field_and_nothing_is_stored(
    by_admin: Client, field: str, value: str, message: str
) -> None:
    answer = by_admin.post("/settings", {"delivery_days": "9", field: value})
    assert answer.status_code == 200
    assert message in str(answer.context["form"].errors[field])
    assert not SiteSetting.objects.exists()


def test_private_networks_that_the_operator_locked_stay_so_whatever_an_admin_saves(
    by_admin: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    SiteSetting.objects.create(name="NOTIFY_PRIVATE_NETWORKS", value="10.0.0.0/8")
    chosen.read_now()
    assert admits("10.1.2.3")
    for locked, shown in (("none", ""), ("192.168.7.0/24", "192.168.7.0/24")):
        monkeypatch.setenv("BENCHWEB_NOTIFY_PRIVATE_NETWORKS", locked)
        settings.NOTIFY_PRIVATE_NETWORKS = shown
        field = by_admin.get("/settings").context["form"]["notify_private_networks"]
        assert (field.field.disabled, field.value()) == (True, shown)
        by_admin.post("/settings", {"notify_private_networks": "10.0.0.0/8"})
        chosen.read_now()
        assert (admits("10.1.2.3"), admits("192.168.7.1")) == (False, bool(shown))


@pytest.mark.parametrize("name", ["ENGINE_NETWORKS", "NOTIFY_PRIVATE_NETWORKS"])
def test_none_in_the_environment_lists_no_network(name: str) -> None:
    environment = {**os.environ, f"BENCHWEB_{name}": "none"}
    code = f"from benchweb import settings; print(repr(settings.{name}))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "''"


def test_an_admin_makes_a_sample_and_removes_it_and_nobody_else_may(
    by_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def send(task: str) -> bool:
        sent.append(task)
        return True

    monkeypatch.setattr("benchweb.ops.sample.celery_client.send", send)
    assert 'action="/settings/sample"' in by_admin.get("/settings").content.decode()
    told = by_admin.post("/settings/sample", follow=True).content.decode()
    assert "The sample is being made" in told
    assert sent == ["workers.tasks.make_sample"]
    synthetic.generate_nights(pairs=1, days=1, seed=1, until=timezone.now())
    assert 'action="/settings/sample/remove"' in by_admin.get("/settings").content.decode()
    client = Client()
    bea = User.objects.create_user("bea")
    role_set(user=bea, role=Role.VIEWER)
    client.force_login(bea)
    assert client.post("/settings/sample").status_code == 403
    assert client.post("/settings/sample/remove").status_code == 403
    assert "/settings/sample/remove" not in client.get("/").content.decode()
    assert "/settings/sample/remove" in by_admin.get("/").content.decode()
    told = by_admin.post("/settings/sample/remove", follow=True).content.decode()
    assert "The sample is removed, with its 1 run." in told
    assert not Host.objects.filter(is_synthetic=True).exists()


def test_what_is_more_than_a_sample_is_left_to_the_command(by_admin: Client) -> None:
    Host.objects.bulk_create(Host(name=f"made-up-{number}", is_synthetic=True) for number in range(51))
    told = by_admin.post("/settings/sample/remove", follow=True).content.decode()
    assert "manage.py sample --remove removes it" in told
    assert Host.objects.count() == 51
