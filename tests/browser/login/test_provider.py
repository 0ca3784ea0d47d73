"""Log-in by a real OpenID provider, in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.accounts.models import Grant
from tests.accounts.login.openid import Provider
from tests.accounts.login.provider import PASSWORD


@pytest.fixture(autouse=True)
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """Start a provider that the web, which starts after this, is told of."""
    running = Provider.start(tmp_path / "provider")
    for name, value in running.environment(BENCHWEB_GROUP_ROLES="netops=operator,leads=admin").items():
        monkeypatch.setenv(name, value)
    yield running
    running.stop()


def test_a_person_of_the_provider_logs_in_and_is_where_they_wanted_to_be(
    transactional_db: None, page: Page, provider: Provider
) -> None:
    # The last admin would stay one, whatever their groups say.
    User.objects.create_superuser("root")
    page.goto("/runs")
    page.get_by_role("link", name="Log in with Example SSO").click()
    expect(page).to_have_url(re.compile(f"^{re.escape(provider.url)}"))
    page.get_by_label("Name").fill("bob")
    page.get_by_label("Secret").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    assert Grant.objects.get(user__username="bob").role == "operator"
    page.goto("/account")
    expect(page.get_by_text("bob", exact=True).first).to_be_visible()
