"""Two people edit one thing: the second is told what changed, field by field, and nothing typed or saved is lost."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model
from django.test import Client

from benchweb.plans.models import Plan
from benchweb.web.shared.edits import opened_form
from tests.factories import (
    make_channel,
    make_endpoint,
    make_environment,
    make_pair,
    make_plan,
    make_schedule,
    make_threshold,
)
from tests.responses import Response


@dataclass(frozen=True)
class Edited:
    """A thing, the field that both change, and how its value is read."""

    path: str
    row: Model
    field: str
    read: Callable[[Any], str]
    more: dict[str, str]


def things() -> list[Edited]:
    environment, host, pair = make_environment("zone"), make_endpoint().host, make_pair()
    channel, schedule, threshold, plan = make_channel(), make_schedule(), make_threshold(), make_plan()
    return [
        Edited(f"/environments/{environment.pk}/edit", environment, "description", lambda row: row.description, {}),
        Edited(f"/hosts/{host.pk}/edit", host, "description", lambda row: row.description, {}),
        Edited(f"/pairs/{pair.pk}/edit", pair, "labels", lambda row: ", ".join(row.labels), {}),
        Edited(f"/notifications/channels/{channel.pk}/edit", channel, "name", lambda row: row.name, {}),
        Edited(f"/schedules/{schedule.pk}/edit", schedule, "name", lambda row: row.name, {"action": "save"}),
        Edited(f"/thresholds/{threshold.pk}/edit", threshold, "name", lambda row: row.name, {}),
        Edited(f"/plans/{plan.pk}/edit", plan, "name", lambda row: row.name, {"action": "save"}),
    ]


def fields_of(page: str) -> dict[str, Any]:
    """Return what a browser would send of a page's form as it stands."""
    sent: dict[str, Any] = {}
    form = max(re.findall(r"<form[^>]*method=\"post\".*?</form>", page, re.DOTALL), key=len)
    for tag in re.findall(r"<input[^>]*>", form):
        name, kind = re.search(r'name="([^"]*)"', tag), re.search(r'type="([^"]*)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        if not name or (kind and kind[1] in ("checkbox", "radio") and " checked" not in tag):
            continue
        sent.setdefault(name[1], []).append(unescaped(value[1] if value else ""))
    for name, body in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.DOTALL):
        sent[name] = [unescaped(body).strip("\n")]
    for name, body in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        sent[name] = [unescaped(value) for value in re.findall(r'<option value="([^"]*)"[^>]*selected', body)]
    sent.pop("csrfmiddlewaretoken", None)
    return sent


def unescaped(text: str) -> str:
    for entity, character in (("&quot;", '"'), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text


@pytest.mark.django_db
def test_the_second_of_two_who_edit_one_thing_is_told_what_changed_and_keeps_what_was_typed(signed_in: Client) -> None:
    for thing in things():
        opened = fields_of(signed_in.get(thing.path).content.decode()) | thing.more
        assert "opened_as" in opened, thing.path
        first = signed_in.post(thing.path, opened | {thing.field: "theirs"})
        assert first.status_code == 302, (thing.path, first.content[-2000:])
        second = signed_in.post(thing.path, opened | {thing.field: "mine"})
        page = second.content.decode()
        assert second.status_code == 409, thing.path
        thing.row.refresh_from_db()
        assert thing.read(thing.row) == "theirs", thing.path
        assert "Somebody else saved this while you were editing." in page
        assert re.search(r"<td>theirs</td>\s*<td>mine</td>", page), thing.path
        # What was typed is in the form, and saved once that is what one wants.
        kept = fields_of(page) | thing.more
        assert kept[thing.field] in ("mine", ["mine"]), thing.path
        assert signed_in.post(thing.path, kept).status_code == 302, thing.path
        thing.row.refresh_from_db()
        assert thing.read(thing.row) == "mine", thing.path


@pytest.mark.django_db
def test_a_form_that_is_sent_twice_is_no_conflict(signed_in: Client) -> None:
    for thing in things():
        opened = fields_of(signed_in.get(thing.path).content.decode()) | thing.more | {thing.field: "new"}
        assert [signed_in.post(thing.path, opened).status_code for _ in range(2)] == [302, 302], thing.path


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_the_same_moment_one_is_told(ada: User) -> None:
    plan = make_plan()
    path, answers, ready = f"/plans/{plan.pk}/edit", list[Response](), threading.Barrier(2)

    def save(name: str) -> None:
        client = Client()
        client.force_login(ada)
        opened = fields_of(client.get(path).content.decode())
        ready.wait()
        try:
            answers.append(client.post(path, opened | {"action": "save", "name": name}))
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=[name]) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [302, 409]
    assert Plan.objects.get().name in ("one", "other")


def test_a_step_that_somebody_added_or_removed_is_told() -> None:
    was, now = {"steps.1": "TCP", "steps.2": "UDP"}, {"steps.1": "TCP", "steps.3": "ping"}
    sent = {"opened_as": opened_form({}, was, was, {}).written}
    changes = opened_form(sent, now, was, {"steps.3": "Step 3"}).changes
    assert [(change.name, change.label, change.was, change.now) for change in changes] == [
        ("steps.3", "Step 3", "", "ping"),
        ("steps.2", "steps.2", "UDP", ""),
    ]
    assert opened_form({"opened_as": "nonsense"}, now, was, {}).changes == []
