"""A share link with a password: closed without it, open with it, and too slow to guess."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.throttle import PAIR_ATTEMPTS
from benchweb.runs.models import Run
from benchweb.sharing.models import Share
from benchweb.sharing.services import ShareError, share_create
from tests.sharing.scene import shared, told_run

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse 7"  # pragma: allowlist secret
BELOW = ("", "/embed", "/badge.svg", "/results.csv", "/results.json")


@pytest.fixture
def run() -> Run:
    return told_run()


@pytest.fixture
def path(run: Run) -> str:
    _share, token = share_create(run=run, user=None, password=PASSWORD)
    return f"/s/{token}"


def test_nothing_of_a_locked_link_is_shown_or_counted(run: Run, path: str) -> None:
    for below in BELOW:
        answer = Client().get(f"{path}{below}")
        assert answer.status_code == 403, below
        assert str(run.pair.source) not in answer.content.decode(), below
        assert run.plan_version.plan.name not in answer.content.decode(), below
    assert Share.objects.get().opened == 0
    page = Client().get(path)
    assert f'action="{path}/unlock"' in page.content.decode()
    assert "form-action 'self'" in page["Content-Security-Policy"]
    assert "<form" not in Client().get(f"{path}/embed").content.decode()


def test_the_password_opens_all_of_the_link_in_this_browser_alone(path: str) -> None:
    reader = Client()
    answer = reader.post(f"{path}/unlock", {"password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, path)
    assert [reader.get(f"{path}{below}").status_code for below in BELOW] == [200] * len(BELOW)
    assert "form-action 'none'" in reader.get(path)["Content-Security-Policy"]
    assert Client().get(path).status_code == 403


def test_one_links_cookie_opens_no_other(run: Run, path: str) -> None:
    other, token = share_create(run=run, user=None, password=PASSWORD)
    reader = Client()
    reader.post(f"{path}/unlock", {"password": PASSWORD})
    [cookie] = [morsel.value for name, morsel in reader.cookies.items() if name.startswith("share-")]
    reader.cookies[f"share-{other.pk}"] = cookie
    assert reader.get(f"/s/{token}").status_code == 403


@pytest.mark.usefixtures("one_window")
def test_guessing_ends_after_a_few_wrong_passwords(path: str) -> None:
    guesser = Client(REMOTE_ADDR="192.0.2.9")
    answers = [guesser.post(f"{path}/unlock", {"password": f"wrong {n}"}) for n in range(PAIR_ATTEMPTS + 1)]
    assert [answer.status_code for answer in answers] == [403] * PAIR_ATTEMPTS + [429]
    assert "This password is wrong." in answers[0].content.decode()
    # Not even the right one is looked at now; from elsewhere it is.
    assert guesser.post(f"{path}/unlock", {"password": PASSWORD}).status_code == 429
    assert Client(REMOTE_ADDR="198.51.100.9").post(f"{path}/unlock", {"password": PASSWORD}).status_code == 302


def test_a_password_is_stored_hashed_and_stays_out_of_the_audit_log(run: Run) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    page = client.post(f"/runs/{run.pk}/shares", {"lasts": "7", "password": PASSWORD}).content.decode()
    assert "with a password" in page
    assert PASSWORD not in page
    stored = Share.objects.get().password
    assert stored
    assert PASSWORD not in stored
    entry = AuditEntry.objects.get(table="sharing_share")
    assert entry.changes["password"] == [None, "…"]


def test_a_password_that_is_guessed_soon_is_refused(run: Run) -> None:
    with pytest.raises(ShareError) as refused:
        share_create(run=run, user=None, password="12345")
    assert refused.value.field == "password"
    client = Client()
    client.force_login(User.objects.create_user("bea"))
    page = client.post(f"/runs/{run.pk}/shares", {"lasts": "7", "password": "password"}).content.decode()
    assert "too common" in page
    assert Share.objects.count() == 0


def test_unlocking_what_is_no_link_or_is_open_already(run: Run) -> None:
    _, open_path = shared(run)
    assert Client().post("/s/nothing/unlock", {"password": "x"}).status_code == 404
    assert Client().get(f"{open_path}/unlock").status_code == 405
    assert Client().post(f"{open_path}/unlock", {"password": "x"}).status_code == 403
