"""A kind of channel is a folder and a line in the table: pages, API and outbox know nothing else of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import urllib3
from django.test import Client

from benchweb.catalog.reasons import Reason
from benchweb.notifications import kinds
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.delivery import outbox
from benchweb.notifications.delivery.sending import send
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.kind import ChannelField, ChannelKind, ChannelSettings
from benchweb.notifications.kinds.kind import Receiver as MessageReceiver
from benchweb.notifications.kinds.table import CHANNEL_KINDS
from benchweb.notifications.messages import Message, event_payload, message
from benchweb.notifications.models import Channel, Delivery
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from tests.api.conftest import ApiClient, Refused, api, refused, token, user  # noqa: F401
from tests.notifications.events import make_event
from tests.notifications.receivers import HttpReceiver
from tests.web.conftest import ada, signed_in  # noqa: F401

pytestmark = pytest.mark.django_db


def check(settings: ChannelSettings, _is_new: bool) -> dict[str, Any]:
    if not settings.url.startswith("http"):
        raise NotificationError("url", "A pager's address begins with http.")
    return {"url": settings.url}


def sender(message: Message, receiver: MessageReceiver) -> Callable[[], ReceiverAnswer]:
    def send() -> ReceiverAnswer:
        body = json.dumps({"page": message.title, "by": receiver.secret})
        response = urllib3.PoolManager().request("POST", receiver.config["url"], body=body, retries=False)
        return ReceiverAnswer(response.status, response.data.decode())

    return send


@pytest.fixture(autouse=True)
def pager(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [ChannelField("url", "Address of the pager"), ChannelField("secret", "Word of the pager")]
    # Longer than any of ours: no column is made for their names.
    kind = ChannelKind("pager_of_the_night_shift", "pager", fields, check, sender)
    monkeypatch.setitem(CHANNEL_KINDS, kind.key, kind)


def test_a_new_kind_goes_from_the_form_to_the_receiver(signed_in: Client, receiver: HttpReceiver) -> None:  # noqa: F811
    path = "/notifications/channels/new/pager_of_the_night_shift"
    assert f'href="{path}">Pager</a>' in signed_in.get("/notifications").content.decode()
    empty = signed_in.get(path).content.decode()
    assert "Word of the pager" in empty
    # No browser offers what was typed here before.
    assert all(re.search(rf'name="{name}"[^>]* autocomplete="off"', empty) for name in ("url", "secret"))
    form = {"name": "night", "url": "ftp://example.org", "secret": "shibboleth"}  # pragma: allowlist secret
    assert "A pager&#x27;s address begins with http." in signed_in.post(path, form).content.decode()
    signed_in.post(path, form | {"url": receiver.url})
    channel = Channel.objects.get()
    assert "pager" in signed_in.get(f"/notifications/channels/{channel.pk}").content.decode()
    rule_create(RuleValues(name="all", channel=channel))
    notify(make_event())
    assert outbox.send_due() == 1
    assert Delivery.objects.get().state == Delivery.State.SENT
    assert json.loads(receiver.got[0].body) == {"page": make_event().title, "by": "shibboleth"}
    assert "shibboleth" not in signed_in.get(f"/notifications/channels/{channel.pk}/edit").content.decode()


def test_a_new_kind_is_made_by_the_api_with_the_settings_that_it_takes(
    api: ApiClient,  # noqa: F811
    receiver: HttpReceiver,
    refused: Refused,  # noqa: F811
) -> None:
    # pragma: allowlist nextline secret
    body = {"name": "night", "kind": "pager_of_the_night_shift", "url": receiver.url, "secret": "shibboleth"}
    refused(api.post("/channels", body | {"to": ["ann@example.org"]}), 422, "to")
    refused(api.post("/channels", body | {"url": "x"}), 422, "url")
    made = api.post("/channels", body).json()
    assert (made["kind"], made["url"], made["has_secret"]) == ("pager_of_the_night_shift", receiver.url, True)
    assert api.post(f"/channels/{made['id']}/test").json()["delivered"]
    refused(api.patch(f"/channels/{made['id']}", {"url": f"{receiver.url}/other"}), 422, "secret")


def test_the_table_has_every_folder_and_the_database_has_no_list_of_its_own() -> None:
    (room,) = map(Path, kinds.__path__)
    folders = {folder.parent.name for folder in room.glob("*/kind.py")}
    assert {*folders, "pager_of_the_night_shift"} == set(CHANNEL_KINDS)
    assert Channel._meta.get_field("kind").choices is None


def test_a_channel_of_a_kind_that_is_gone_is_shown_and_says_so_when_something_is_sent(signed_in: Client) -> None:  # noqa: F811
    channel = Channel.objects.create(name="old pager", kind="telex", config={})
    assert "telex" in signed_in.get("/notifications").content.decode()
    assert "telex" in signed_in.get(f"/notifications/channels/{channel.pk}").content.decode()
    edited = signed_in.post(f"/notifications/channels/{channel.pk}/edit", {"name": "pager"})
    assert "A channel is of the kind email" in edited.content.decode()
    answer = send(message("1", event_payload(make_event())), channel)
    assert answer.error == Reason("channel_kind_unknown", kind="telex")
