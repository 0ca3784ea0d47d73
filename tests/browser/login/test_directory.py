"""Log-in with the password of a real LDAP server, in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.accounts.models import Grant
from tests.accounts.login.directories import PASSWORD, Directory

pytestmark = pytest.mark.needs("slapd", "LDAP library")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Directory]:
    """Start a directory that the web, which starts after this, is told of."""
    running = Directory.start(tmp_path / "directory")
    for name, value in running.environment(BENCHWEB_GROUP_ROLES="netops=operator,leads=admin").items():
        monkeypatch.setenv(name, value)
    yield running
    running.stop()


def test_a_person_of_the_directory_logs_in_and_one_with_a_wrong_password_does_not(
    transactional_db: None, page: Page
) -> None:
    # The last admin would stay one, whatever their groups say.
    User.objects.create_superuser("root")
    page.goto("/runs")
    page.get_by_label("User name").fill("bob")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Wrong user name or password.")).to_be_visible()
    page.get_by_label("User name").fill("bob")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    assert Grant.objects.get(user=User.objects.get(username="bob")).role == "operator"
    page.goto("/account")
    expect(page.get_by_role("link", name="Change password…")).to_have_count(0)
