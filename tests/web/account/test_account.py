"""A user's own account: preferences, password, sessions."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client

from benchweb.accounts.models import Preferences, UserSession

pytestmark = pytest.mark.django_db
PASSWORD = "a password of ada's"  # pragma: allowlist secret
NEW = "another one of ada's"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(autouse=True)
def uncounted() -> None:
    """Begin without attempts."""
    for name in ("default", "local"):
        caches[name].clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def logged_in(password: str = PASSWORD, **headers: str) -> Client:
    """Log in as a browser does."""
    client = Client(headers=headers)
    assert client.post("/login", {"username": "ada", "password": password}).status_code == 302
    return client


def test_preferences_are_kept_with_the_account_and_reach_the_next_browser(ada: User) -> None:
    client = logged_in()
    form = {"time_zone": "Asia/Shanghai", "language": "zh-hans", "theme": "dark"}
    client.post("/account", form)
    stored = Preferences.objects.get(user=ada)
    assert (stored.time_zone, stored.language, stored.theme) == tuple(form.values())
    for browser in (client, logged_in()):
        cookies = {name: browser.cookies[name].value for name in ("chosen_zone", "language", "theme")}
        assert tuple(cookies.values()) == tuple(form.values())
        page = browser.get("/account").content.decode()
        assert '<html lang="zh-hans"' in page
        assert 'value="Asia/Shanghai"' in page


def test_pages_speak_of_the_chosen_zone_and_not_of_the_browsers(ada: User) -> None:
    client = logged_in()
    client.cookies["zone"] = "Europe/Berlin"
    assert client.get("/history").context["view"].query.zone.key == "Europe/Berlin"
    client.post("/account", {"time_zone": "Asia/Shanghai"})
    assert client.get("/history").context["view"].query.zone.key == "Asia/Shanghai"
    client.post("/account", {"time_zone": ""})
    assert client.get("/history").context["view"].query.zone.key == "Europe/Berlin"


def test_who_chose_nothing_keeps_the_language_of_the_switch(ada: User) -> None:
    client = Client()
    client.cookies["language"] = "zh-hans"
    client.post("/login", {"username": "ada", "password": PASSWORD})
    assert client.cookies["language"].value == "zh-hans"


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"time_zone": "Mars/Olympus"}, "There is no time zone of this name"),
        ({"time_zone": "../../etc/passwd"}, "There is no time zone of this name"),
        ({"language": "tlh"}, "tlh is not one of the available choices"),
        ({"theme": "pink"}, "pink is not one of the available choices"),
    ],
)
def test_a_preference_that_can_not_be_is_refused_and_nothing_stored(ada: User, form: dict[str, str], told: str) -> None:
    assert told in logged_in().post("/account", form).content.decode()
    assert not Preferences.objects.exists()


def test_the_sessions_are_listed_with_browser_and_address_and_can_be_ended(ada: User) -> None:
    here, there = logged_in(), logged_in(user_agent=FIREFOX)
    page = here.get("/account").content.decode()
    assert "Firefox · Linux" in page
    assert "this browser" in page
    assert here.session.session_key is not None
    assert here.session.session_key not in page
    assert str(there.session.session_key) not in page
    [address] = re.findall(r'action="(/account/sessions/[0-9a-f]+/end)"', page)
    here.post(address)
    assert there.get("/").status_code == 302
    assert here.get("/").status_code == 200
    assert here.post(address).status_code == 404


def test_all_others_are_ended_at_once(ada: User) -> None:
    here, *others = logged_in(), logged_in(), logged_in()
    text = here.post("/account/sessions/end-others", follow=True).content.decode()
    assert "2 other sessions ended." in text
    assert [each.get("/").status_code for each in (here, *others)] == [200, 302, 302]


def test_nobody_ends_the_sessions_of_another(ada: User) -> None:
    mine = logged_in()
    page = logged_in().get("/account").content.decode()
    [address] = re.findall(r'action="(/account/sessions/[0-9a-f]+/end)"', page)
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    assert stranger.post(address).status_code == 404
    stranger.post("/account/sessions/end-others")
    assert mine.get("/").status_code == 200
    assert UserSession.objects.filter(user=ada).count() == 2


def test_a_new_password_ends_the_other_sessions_and_keeps_this_one(ada: User) -> None:
    here, there = logged_in(), logged_in()
    form = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    page = here.post("/account/password", form, follow=True).content.decode()
    assert "The password is changed. Your other sessions are ended." in page
    assert here.get("/").status_code == 200
    assert there.get("/").status_code == 302
    assert [each.user_id for each in UserSession.objects.filter(user=ada)] == [ada.pk]
    logged_in(NEW)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("wrong", NEW, "Your old password was entered incorrectly"),
        (PASSWORD, "short", "This password is too short"),
        (PASSWORD, "password1234", "This password is too common"),
    ],
)
def test_a_password_that_can_not_be_is_refused_and_the_old_one_stays(ada: User, old: str, new: str, told: str) -> None:
    form = {"old_password": old, "new_password1": new, "new_password2": new}
    assert told in logged_in().post("/account/password", form).content.decode()
    logged_in()


def test_who_guesses_the_old_password_is_stopped(ada: User) -> None:
    client = logged_in()
    form = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}  # pragma: allowlist secret
    for _ in range(10):
        client.post("/account/password", form)
    page = client.post("/account/password", form | {"old_password": PASSWORD}, follow=True).content.decode()
    assert "Too many failed log-ins." in page
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_an_account_without_a_password_has_none_to_change(ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    client = Client()
    client.force_login(ada)
    assert "Change password" not in client.get("/account").content.decode()
