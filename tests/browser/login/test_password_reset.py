"""A forgotten password, in a browser, with a real worker and a real mail server."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.factories import make_user
from tests.notifications.receivers import MailServer, body_of

NEW = "analytical-engine-1843"
SITE = "https://bench.example.org"


@pytest.fixture(autouse=True)
def mail_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    """Start a mail server that the web and the worker, which start after this, are told of."""
    with MailServer() as server:
        monkeypatch.setenv("BENCHWEB_SMTP_URL", f"smtp://127.0.0.1:{server.port}")
        monkeypatch.setenv("BENCHWEB_PUBLIC_URL", SITE)
        yield server


@pytest.fixture
def ada(mail_server: MailServer, transactional_db: None) -> User:
    user = make_user("ada", steps.PASSWORD)
    user.email = "ada@example.org"
    user.save()
    return user


def mailed_path(server: MailServer) -> str:
    """Wait for the mail; return its link without the site."""
    give_up_at = time.monotonic() + steps.PATIENCE_SECONDS
    while not server.mails:
        assert time.monotonic() < give_up_at, "no mail came"
        time.sleep(0.05)
    found = re.search(rf"{SITE}(\S+)", body_of(server.mails.pop(), "plain"))
    assert found
    return found[1]


def test_a_forgotten_password_is_set_anew_by_mail(
    ada: User, mail_server: MailServer, page: Page, worker: Callable[[], object]
) -> None:
    worker()
    page.goto("/runs")
    page.get_by_role("link", name="Forgotten password").click()
    page.get_by_label("Mail address").fill("ada@example.org")
    page.get_by_role("button", name="Mail the link").click()
    expect(page.get_by_text("If an account has this address")).to_be_visible()
    path = mailed_path(mail_server)
    page.goto(path)
    expect(page).to_have_url(re.compile("/set-password$"))
    page.get_by_label("New password", exact=True).fill(NEW)
    page.get_by_label("New password confirmation").fill(NEW)
    page.get_by_role("button", name="Set password").click()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(NEW)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()
    page.goto(path)
    expect(page.get_by_text("This link was used already")).to_be_visible()
