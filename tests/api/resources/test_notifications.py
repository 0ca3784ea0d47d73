"""Channels, rules and maintenance windows by REST."""

import threading
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.services import host_create
from benchweb.notifications.delivery import outbox, sending
from benchweb.notifications.models import Channel, Delivery, MaintenanceWindow, Rule
from benchweb.notifications.routing import notify
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_environment, make_plan
from tests.notifications.conftest import SECRET, loopback_allowed, receiver, released  # noqa: F401
from tests.notifications.events import make_event
from tests.notifications.receivers import HttpReceiver, silence, status

pytestmark = pytest.mark.django_db


@pytest.fixture
def hook(api: ApiClient, receiver: HttpReceiver) -> dict[str, Any]:  # noqa: F811
    body = {"name": "hook", "kind": "webhook", "url": receiver.url, "secret": SECRET}
    answer = api.post("/channels", body)
    assert answer.status_code == 201, answer.content
    document: dict[str, Any] = answer.json()
    return document


def test_a_channel_is_made_changed_and_archived_and_its_secret_is_never_told(
    api: ApiClient,
    hook: dict[str, Any],
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    assert (hook["kind"], hook["url"], hook["has_secret"], hook["last_attempt"]) == (
        "webhook", receiver.url, True, None,
    )  # fmt: skip
    path = f"/channels/{hook['id']}"
    assert api.patch(path, {"name": "team"}).json()["name"] == "team"
    (item,) = api.get("/channels").json()["items"]
    assert (item["name"], item["url"]) == ("team", receiver.url)
    for answer in (api.get("/channels"), api.get(path), api.post(f"{path}/test"), api.get(f"{path}/deliveries")):
        assert SECRET not in answer.content.decode()
        assert SECRET.removeprefix("whsec_") not in answer.content.decode()
    assert api.delete(path).status_code == 204
    assert api.get("/channels").json()["items"] == []
    assert api.get(path).json()["archived_at"] is not None
    assert api.post(f"{path}/test").status_code == 404


def test_a_secret_is_not_taken_to_another_receiver(api: ApiClient, hook: dict[str, Any], refused: Refused) -> None:
    refused(api.patch(f"/channels/{hook['id']}", {"url": "https://example.org/x"}), 422, "secret")
    assert Channel.objects.get().config["url"] == hook["url"]


def test_a_test_shows_the_receivers_answer(api: ApiClient, hook: dict[str, Any], receiver: HttpReceiver) -> None:  # noqa: F811
    receiver.replies.append(status(418, b"a teapot"))
    answer = api.post(f"/channels/{hook['id']}/test").json()
    assert (answer["delivered"], answer["attempt"]["status"], answer["attempt"]["answer"]) == (False, 418, "a teapot")
    answer = api.post(f"/channels/{hook['id']}/test").json()
    assert (answer["delivered"], answer["attempt"]["status"]) == (True, 200)
    assert receiver.ids[1] == answer["message_id"]
    assert all(got.signed_with(SECRET) for got in receiver.got)
    assert api.get(f"/channels/{hook['id']}").json()["last_attempt"] == answer["attempt"]


def test_a_test_of_a_receiver_that_hangs_ends_in_time(
    api: ApiClient,
    hook: dict[str, Any],
    receiver: HttpReceiver,  # noqa: F811
    released: threading.Event,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 1.0)
    receiver.replies.append(silence(released))
    began = time.monotonic()
    answer = api.post(f"/channels/{hook['id']}/test").json()
    assert time.monotonic() - began < 2
    assert answer["attempt"]["error"] == "no whole answer within 1 s"
    assert sending.SECONDS == 1.0


def test_a_410_disables_and_enabling_again_is_a_change(
    api: ApiClient,
    hook: dict[str, Any],
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    receiver.replies.append(status(410))
    api.post(f"/channels/{hook['id']}/test")
    disabled = api.get(f"/channels/{hook['id']}").json()
    assert disabled["disabled_at"] is not None
    assert "410" in disabled["disabled_reason"]
    assert api.patch(f"/channels/{hook['id']}", {"name": "x"}).json()["disabled_at"] == disabled["disabled_at"]
    enabled = api.patch(f"/channels/{hook['id']}", {"enabled": True}).json()
    assert (enabled["disabled_at"], enabled["disabled_reason"]) == (None, "")
    assert api.patch(f"/channels/{hook['id']}", {"enabled": False}).json()["disabled_reason"] == "somebody disabled it"


def test_the_log_has_each_message_with_its_attempts(
    api: ApiClient,
    hook: dict[str, Any],
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    api.post("/alert-rules", {"name": "all", "channel": hook["id"]})
    receiver.replies.append(status(503, b"busy"))
    notify(make_event(id="alert-7-open"))
    outbox.send_due()
    path = f"/channels/{hook['id']}/deliveries"
    (item,) = api.get(path).json()["items"]
    assert (item["event_id"], item["state"], item["attempts"]) == ("alert-7-open", "failed", 1)
    assert item["payload"]["data"]["title"] == "Throughput of a → b fell by 9 %"
    (attempt,) = item["log"]
    assert (attempt["status"], attempt["answer"], attempt["error"]) == (503, "busy", "the receiver answered 503")
    assert api.get(f"{path}?state=sent").json()["items"] == []
    assert len(api.get(f"{path}?state=failed").json()["items"]) == 1


def test_the_list_of_channels_costs_the_same_however_many_there_are(
    api: ApiClient, hook: dict[str, Any], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        api.post("/channels", {"name": f"m{number}", "kind": "email", "to": ["ann@example.org"]})
    with django_assert_max_num_queries(5):
        assert len(api.get("/channels").json()["items"]) == 6


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "fax"}, "kind"),
        ({"kind": "email"}, "to"),
        ({"kind": "email", "to": ["ann"]}, "to.0"),
        ({"kind": "email", "to": ["a@example.org\nBcc: b@example.org"]}, "to.0"),
        ({"kind": "email", "to": ["a@example.org"], "secret": "x"}, "secret"),
        ({"kind": "webhook", "url": "https://example.org/", "secret": "hunter2"}, "secret"),  # pragma: allowlist secret
        ({"kind": "webhook", "url": "https://example.org/"}, "secret"),
        ({"kind": "webhook", "url": "ftp://example.org/", "secret": SECRET}, "url"),
        ({"kind": "webhook", "url": "https://a:b@example.org/", "secret": SECRET}, "url"),
        ({"kind": "webhook", "url": "https://example.org:99999/", "secret": SECRET}, "url"),
        ({"kind": "webhook", "url": "http://169.254.169.254/latest", "secret": SECRET}, "url"),
        ({"kind": "apprise", "secret": "syslog://"}, "secret"),  # pragma: allowlist secret
        ({"kind": "apprise", "secret": "slack://"}, "secret"),  # pragma: allowlist secret
        ({"kind": "apprise", "url": "https://example.org"}, "url"),
        ({"kind": "email", "to": ["a@example.org"], "name": " "}, "name"),
    ],
)
def test_a_wrong_channel_is_named_and_nothing_is_made(
    api: ApiClient, refused: Refused, body: dict[str, Any], field: str
) -> None:
    refused(api.post("/channels", {"name": "x"} | body), 422, field)
    assert Channel.objects.count() == 0


def test_a_rule_is_made_changed_listed_and_archived(api: ApiClient, hook: dict[str, Any]) -> None:
    environment, plan = make_environment(), make_plan()
    body = {
        "name": "nights", "channel": hook["id"], "environment": environment.pk, "plan": plan.pk, "host_label": "rack-7",
        "least_severity": "warning", "alert_kinds": ["change"], "transitions": ["open", "recovered"],
        "time_zone": "Asia/Shanghai", "quiet_from": "22:00", "quiet_until": "07:30",
    }  # fmt: skip
    made = api.post("/alert-rules", body)
    assert made.status_code == 201, made.content
    rule = made.json()
    assert {name: rule[name] for name in body} == body
    changed = api.patch(f"/alert-rules/{rule['id']}", {"environment": None, "quiet_from": None, "quiet_until": None,
                                                       "digest_at": "08:00"})  # fmt: skip
    assert changed.status_code == 200, changed.content
    expected = body | {"environment": None, "quiet_from": None, "quiet_until": None, "digest_at": "08:00"}
    assert {name: changed.json()[name] for name in expected} == expected
    assert [each["id"] for each in api.get(f"/alert-rules?channel={hook['id']}").json()["items"]] == [rule["id"]]
    assert api.get("/alert-rules?channel=999999").json()["items"] == []
    assert api.delete(f"/alert-rules/{rule['id']}").status_code == 204
    assert api.get("/alert-rules").json()["items"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"channel": 999_999}, "channel"),
        ({"environment": 999_999}, "environment"),
        ({"least_severity": "awful"}, "least_severity"),
        ({"alert_kinds": ["<b>"]}, "alert_kinds"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"digest_at": "25:00"}, "digest_at"),
        ({"digest_at": 8}, "digest_at"),
        ({"quiet_from": "22:00"}, "quiet_until"),
        ({"quiet_from": "22:00", "quiet_until": "22:00"}, "quiet_until"),
        ({"quiet_from": "22:00", "quiet_until": "07:00", "digest_at": "08:00"}, "quiet_from"),
        ({"host_label": "a,b"}, "host_label"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_rule_is_named_and_nothing_is_made(
    api: ApiClient, hook: dict[str, Any], refused: Refused, change: dict[str, Any], field: str
) -> None:
    refused(api.post("/alert-rules", {"name": "x", "channel": hook["id"]} | change), 422, field)
    assert Rule.objects.count() == 0


def test_a_rule_for_an_archived_channel_is_refused(api: ApiClient, hook: dict[str, Any], refused: Refused) -> None:
    api.delete(f"/channels/{hook['id']}")
    refused(api.post("/alert-rules", {"name": "x", "channel": hook["id"]}), 422, "channel")


def test_a_maintenance_window_is_made_changed_and_archived(api: ApiClient) -> None:
    host = host_create(name="a")
    body = {
        "name": "cables",
        "begins_at": "2026-12-01T02:00:00Z",
        "ends_at": "2026-12-01T04:00:00+00:00",
        "host": host.pk,
    }
    made = api.post("/maintenance-windows", body)
    assert made.status_code == 201, made.content
    window = made.json()
    assert (window["host"], window["host_label"], window["environment"]) == (host.pk, "", None)
    path = f"/maintenance-windows/{window['id']}"
    changed = api.patch(path, {"host": None, "host_label": "rack-7", "ends_at": "2026-12-01T05:00:00Z"})
    assert changed.status_code == 200, changed.content
    assert (changed.json()["host"], changed.json()["host_label"]) == (None, "rack-7")
    assert changed.json()["ends_at"].startswith("2026-12-01T05:00:00")
    assert MaintenanceWindow.objects.get().created_by == User.objects.get(username="ada")
    assert api.delete(path).status_code == 204
    assert api.get("/maintenance-windows").json()["items"] == []
    assert len(api.get("/maintenance-windows?archived=true").json()["items"]) == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({}, "host"),
        ({"host_label": "a", "environment": 1}, "environment"),
        ({"host_label": "rack-7", "ends_at": "2026-12-01T02:00:00Z"}, "ends_at"),
        ({"host": 999_999}, "host"),
        ({"host_label": "rack-7", "begins_at": "soon"}, "begins_at"),
    ],
)
def test_a_wrong_maintenance_window_is_named_and_nothing_is_made(
    api: ApiClient, change: dict[str, Any], field: str
) -> None:
    body = {"name": "x", "begins_at": "2026-12-01T02:00:00Z", "ends_at": "2026-12-01T04:00:00Z"}
    answer = api.post("/maintenance-windows", body | change)
    assert answer.status_code in (409, 422)
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert MaintenanceWindow.objects.count() == 0


def test_strangers_are_refused(anonymous: ApiClient, refused: Refused) -> None:
    for path in ("/channels", "/alert-rules", "/maintenance-windows"):
        refused(anonymous.get(path), 401)
        refused(anonymous.post(path, {}), 401)
    assert Delivery.objects.count() == 0


def test_what_was_archived_is_restored_a_rule_only_with_its_channel(api: ApiClient, refused: Refused) -> None:
    channel = api.post("/channels", {"name": "team", "kind": "email", "to": ["ann@example.org"]}).json()
    rule = api.post("/alert-rules", {"name": "all", "channel": channel["id"]}).json()
    body = {"name": "cables", "host_label": "rack-7", "begins_at": "2026-12-01T02:00Z", "ends_at": "2026-12-01T04:00Z"}
    window = api.post("/maintenance-windows", body).json()
    paths = [f"/channels/{channel['id']}", f"/alert-rules/{rule['id']}", f"/maintenance-windows/{window['id']}"]
    for path in paths:
        assert api.delete(path).status_code == 204
    refused(api.post(f"{paths[1]}/restore", {}), 422, "channel")
    assert Rule.objects.filter(archived_at=None).count() == 0
    for path in paths:
        assert api.post(f"{path}/restore", {}).json()["archived_at"] is None
    notify(make_event())
    assert Delivery.objects.get().state == Delivery.State.QUEUED


def test_a_channel_that_was_disabled_is_so_when_it_is_restored(api: ApiClient) -> None:
    path = (
        f"/channels/{api.post('/channels', {'name': 'team', 'kind': 'email', 'to': ['ann@example.org']}).json()['id']}"
    )
    api.patch(path, {"enabled": False})
    api.delete(path)
    restored = api.post(f"{path}/restore", {}).json()
    assert (restored["archived_at"], restored["disabled_reason_code"]) == (None, "channel_disabled_by_hand")
