"""Saved views: a page with its filters under a name, each user's own."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import SavedView
from benchweb.accounts.saved_views import MOST_VIEWS
from tests.responses import Response

RUNS = "/runs?state=failed&host=3&zoom.a=1:2"


def save(client: Client, name: str = "Failed", path: str = RUNS) -> Response:
    """Save a view as the menu does."""
    return client.post("/views/save", {"name": name, "path": path})


def names(user: User) -> list[str]:
    """Return the names of a user's views in order."""
    return list(SavedView.objects.filter(user=user).values_list("name", flat=True))


def test_a_saved_view_leads_back_to_the_page_with_all_its_filters(signed_in: Client, ada: User) -> None:
    assert save(signed_in)["Location"] == RUNS
    menu = signed_in.get("/views/menu?path=/hosts").content.decode()
    assert '<a href="/runs?state=failed&amp;host=3&amp;zoom.a=1:2">Failed</a>' in menu
    assert '<input type="hidden" name="path" value="/hosts">' in menu


def test_the_same_page_again_takes_the_new_name(signed_in: Client, ada: User) -> None:
    save(signed_in)
    save(signed_in, "Broken")
    assert names(ada) == ["Broken"]


@pytest.mark.parametrize(
    "path",
    ["", "https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere", "/\t/elsewhere", "/" + "a" * 2001],
)
def test_only_a_page_of_this_dashboard_can_be_saved(signed_in: Client, ada: User, path: str) -> None:
    assert save(signed_in, path=path)["Location"] == "/views"
    assert "Only a page of this dashboard can be saved as a view." in signed_in.get("/views").content.decode()
    assert names(ada) == []


@pytest.mark.parametrize("name", ["", "   ", "a" * 101, "a\u202eb", "a\x01b"])
def test_a_view_needs_a_name_that_stands_on_one_line(signed_in: Client, ada: User, name: str) -> None:
    save(signed_in, name=name)
    assert names(ada) == []


def test_views_are_renamed_moved_up_and_removed(signed_in: Client, ada: User) -> None:
    for number in (1, 2, 3):
        save(signed_in, f"View {number}", f"/runs?page={number}")
    ids = list(SavedView.objects.values_list("pk", flat=True))
    signed_in.post(f"/views/{ids[2]}", {"action": "up"})
    assert names(ada) == ["View 1", "View 3", "View 2"]
    signed_in.post(f"/views/{ids[0]}", {"action": "up"})
    assert names(ada) == ["View 1", "View 3", "View 2"]
    signed_in.post(f"/views/{ids[0]}", {"action": "rename", "name": "First"})
    signed_in.post(f"/views/{ids[1]}", {"action": "remove"})
    assert names(ada) == ["First", "View 3"]


def test_nobody_sees_or_changes_the_views_of_another(signed_in: Client, ada: User) -> None:
    other = User.objects.create_user("other")
    theirs = SavedView.objects.create(user=other, name="Secret", path="/runs?host=9", position=0)
    assert "Secret" not in signed_in.get("/views").content.decode()
    assert "Secret" not in signed_in.get("/views/menu").content.decode()
    for form in ({"action": "remove"}, {"action": "rename", "name": "Mine"}, {"action": "up"}):
        assert signed_in.post(f"/views/{theirs.pk}", form).status_code == 404
    assert names(other) == ["Secret"]


def test_there_are_so_many_views_and_no_more(signed_in: Client, ada: User) -> None:
    rows = [
        SavedView(user=ada, name=str(number), path=f"/runs?q={number}", position=number) for number in range(MOST_VIEWS)
    ]
    SavedView.objects.bulk_create(rows)
    save(signed_in)
    assert len(names(ada)) == MOST_VIEWS
    assert "There are 100 saved views already: remove one first." in signed_in.get("/views").content.decode()


def test_an_empty_page_of_views_names_the_next_step(signed_in: Client) -> None:
    assert "open the Views menu on any page to save it." in signed_in.get("/views").content.decode()


def test_saved_views_take_a_log_in_and_a_post(signed_in: Client, db: None) -> None:
    assert Client().get("/views").status_code == 302
    assert Client().post("/views/save", {"name": "a", "path": "/"}).status_code == 302
    assert signed_in.get("/views/save").status_code == 405
