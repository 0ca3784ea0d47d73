"""Views that one user offers to all."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import SavedView
from benchweb.accounts.saved_views import view_save
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(db: None) -> Client:
    client = Client()
    client.force_login(make_user("bob", "babbage-1791"))  # pragma: allowlist secret
    return client


def test_an_offered_view_is_in_everybodys_menu_until_it_is_kept_again(
    signed_in: Client, ada: User, bob: Client
) -> None:
    view = view_save(user=ada, name="loss of alder", path="/history?kind=udp_stream")
    assert "loss of alder" not in bob.get("/views/menu").content.decode()
    signed_in.post(f"/views/{view.pk}", {"action": "offer"})
    menu = bob.get("/views/menu").content.decode()
    assert 'href="/history?kind=udp_stream">loss of alder <span class="meta">ada</span>' in menu
    # Their own is no team's view to themselves.
    assert "Team" not in signed_in.get("/views/menu").content.decode()
    signed_in.post(f"/views/{view.pk}", {"action": "keep"})
    assert "loss of alder" not in bob.get("/views/menu").content.decode()


def test_only_its_user_changes_an_offered_view(ada: User, bob: Client) -> None:
    view = view_save(user=ada, name="loss of alder", path="/history")
    SavedView.objects.filter(pk=view.pk).update(is_team=True)
    bob.post(f"/views/{view.pk}", {"action": "rename", "name": "mine"})
    bob.post(f"/views/{view.pk}", {"action": "remove"})
    bob.post(f"/views/{view.pk}", {"action": "keep"})
    found = SavedView.objects.get(pk=view.pk)
    assert (found.name, found.is_team) == ("loss of alder", True)
