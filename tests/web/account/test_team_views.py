"""Views that one user offers to all."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role, SavedView
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


@pytest.fixture
def vera(db: None) -> User:
    user = User.objects.create_user("vera")
    Grant.objects.create(user=user, role=Role.VIEWER)
    return user


def test_a_viewer_offers_nothing_to_all_nor_renames_what_all_see(vera: User, bob: Client) -> None:
    view = view_save(user=vera, name="click here", path="/history")
    client = Client()
    client.force_login(vera)
    assert "Offer to the team" not in client.get("/views").content.decode()
    answer = client.post(f"/views/{view.pk}", {"action": "offer"})
    assert (answer.status_code, "This needs the role Operator" in answer.content.decode()) == (403, True)
    client.post("/views/save?name=again&path=/runs&team=1")
    assert not SavedView.objects.filter(is_team=True).exists()
    assert "click here" not in bob.get("/views/menu").content.decode()
    # Offered when she was an operator.
    for address, fields in (
        (f"/views/{view.pk}", {"action": "rename", "name": "free money"}),
        ("/views/save", {"name": "free money", "path": "/history"}),
    ):
        SavedView.objects.filter(pk=view.pk).update(is_team=True, name="click here")
        client.post(address, fields)
        found = SavedView.objects.get(pk=view.pk)
        assert (found.name, found.is_team) == ("free money", False)
    Grant.objects.filter(user=vera).update(role=Role.OPERATOR)
    client.post(f"/views/{view.pk}", {"action": "offer"})
    assert "free money" in bob.get("/views/menu").content.decode()


def test_admins_alone_take_a_view_from_everybodys_menu_and_it_stays_its_users(
    vera: User, ada: User, signed_in: Client, bob: Client
) -> None:
    view = view_save(user=vera, name="loss of alder", path="/history")
    SavedView.objects.filter(pk=view.pk).update(is_team=True)
    for role, status in ((Role.EDITOR, 403), (Role.ADMIN, 302)):
        Grant.objects.update_or_create(user=ada, defaults={"role": role})
        page = signed_in.get("/views").content.decode()
        assert ("Views that others offer to the team" in page) is (role == Role.ADMIN)
        assert signed_in.post(f"/views/{view.pk}/withdraw").status_code == status
        view.refresh_from_db()
        assert view.is_team is (role != Role.ADMIN)
    assert "loss of alder" not in bob.get("/views/menu").content.decode()
    assert list(SavedView.objects.filter(user=vera)) == [view]
    entry = AuditEntry.objects.filter(table="accounts_savedview").latest("pk")
    assert (entry.user_name, entry.changes["is_team"]) == ("ada", [True, False])


def test_only_its_user_changes_an_offered_view(ada: User, bob: Client) -> None:
    view = view_save(user=ada, name="loss of alder", path="/history")
    SavedView.objects.filter(pk=view.pk).update(is_team=True)
    bob.post(f"/views/{view.pk}", {"action": "rename", "name": "mine"})
    bob.post(f"/views/{view.pk}", {"action": "remove"})
    bob.post(f"/views/{view.pk}", {"action": "keep"})
    found = SavedView.objects.get(pk=view.pk)
    assert (found.name, found.is_team) == ("loss of alder", True)
