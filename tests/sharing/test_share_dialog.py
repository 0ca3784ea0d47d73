"""The share dialog of a run's page: make, list with counts, revoke."""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.runs.models import Run
from benchweb.sharing.models import Share
from benchweb.sharing.selectors import share_path
from tests.sharing.scene import shared, told_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def run() -> Run:
    return told_run()


@pytest.fixture
def reader(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


def test_a_link_is_made_and_shown_to_be_copied_now_and_later(reader: Client, run: Run) -> None:
    part = reader.post(f"/runs/{run.pk}/shares", {"lasts": "7", "anonymise": "on"}, headers=HTMX).content.decode()
    share = Share.objects.get()
    assert share.expires_at is not None and share.created_by is not None
    lasts_days = round((share.expires_at - share.created_at).total_seconds() / 86_400, 3)
    assert (share.anonymise, share.created_by.username, lasts_days) == (True, "reader", 7)
    link = f"http://testserver{share_path(share)}"
    assert f'data-copies="{link}"' in part
    assert f'data-copies="{link}"' in reader.get(f"/runs/{run.pk}/shares").content.decode()
    assert Client().get(share_path(share)).status_code == 200


def test_a_link_that_never_expires_is_a_choice_and_any_other_word_is_refused(reader: Client, run: Run) -> None:
    reader.post(f"/runs/{run.pk}/shares", {"lasts": "never"}, headers=HTMX)
    assert Share.objects.get().expires_at is None
    reader.post(f"/runs/{run.pk}/shares", {"lasts": "forever"}, headers=HTMX)
    assert Share.objects.count() == 1


def test_the_list_tells_how_often_a_link_was_opened(reader: Client, run: Run) -> None:
    _, path = shared(run)
    for _ in range(3):
        Client().get(path)
    page = reader.get(f"/runs/{run.pk}/shares").content.decode()
    assert "opened 3 times" in page


def test_revoking_by_post_ends_the_link_and_by_get_changes_nothing(reader: Client, run: Run) -> None:
    share, path = shared(run)
    assert reader.get(f"/shares/{share.pk}/revoke").status_code == 405
    assert Client().get(path).status_code == 200
    part = reader.post(f"/shares/{share.pk}/revoke", headers=HTMX).content.decode()
    assert Client().get(path).status_code == 410
    assert re.search(r"revoked\s+<time", part)
    assert path not in part


def test_a_stranger_makes_and_revokes_nothing(run: Run) -> None:
    share, path = shared(run)
    assert Client().post(f"/runs/{run.pk}/shares", {"lasts": "7"}).status_code == 302
    assert Client().post(f"/shares/{share.pk}/revoke").status_code == 302
    assert (Share.objects.count(), Client().get(path).status_code) == (1, 200)


def test_what_is_not_there_is_a_404(reader: Client) -> None:
    assert reader.get("/runs/9999/shares").status_code == 404
    assert reader.post("/shares/9999/revoke").status_code == 404


def test_the_run_page_offers_link_badge_and_the_engines_own_document(reader: Client, run: Run) -> None:
    page = reader.get(f"/runs/{run.pk}").content.decode()
    assert f'hx-get="/runs/{run.pk}/shares"' in page
    assert "data-copies-page" in page
    document = json.loads(reader.get(f"/runs/{run.pk}/trials/1/document.json").getvalue())
    assert (document["kind"], document["metrics"]["throughput_bps"]) == ("tcp_stream", 1e9)
    assert (document["source"]["hostname"], document["sink"]["hostname"]) == ("quartz.lab.example", "basalt-os")
    assert reader.get(f"/runs/{run.pk}/trials/9/document.json").status_code == 404
    assert "throughput, received: 2.00 Gbit/s" in reader.get(f"/runs/{run.pk}/badge.svg").content.decode()
