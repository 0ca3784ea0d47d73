"""Who a session belongs to: read by hand-written statements, as strictly as Django's own."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchweb.accounts import sessions
from tests.factories import make_user


@pytest.fixture
def visitor(db: None) -> tuple[Client, User]:
    """Give a browser in which a user is logged in."""
    user = make_user("vera", "a password of hers")
    client = Client()
    client.force_login(user)
    return client, user


def is_in(client: Client) -> bool:
    return client.get("/hosts").status_code == 200


def test_a_session_opens_the_pages_for_its_user(visitor: tuple[Client, User]) -> None:
    client, user = visitor
    answer = client.get("/hosts")
    assert answer.status_code == 200
    assert answer.wsgi_request.user == user
    assert answer.wsgi_request.user.date_joined == user.date_joined


def test_a_session_that_is_over_deleted_or_made_up_opens_nothing(visitor: tuple[Client, User]) -> None:
    client, _user = visitor
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_in(client)
    Session.objects.all().delete()
    assert not is_in(client)
    for key in ("x" * 32, "' OR true --", "\x01", "a\0b"):
        client.cookies["sessionid"] = key
        assert not is_in(client)


def test_a_user_who_is_inactive_gone_or_has_another_password_is_out(visitor: tuple[Client, User]) -> None:
    client, user = visitor
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert not is_in(client)
    User.objects.filter(pk=user.pk).update(is_active=True)
    assert is_in(client)
    user.set_password("another one, and long")
    user.save()
    assert not is_in(client)


def test_a_session_whose_user_is_gone_opens_nothing(visitor: tuple[Client, User]) -> None:
    client, user = visitor
    user.delete()
    assert not is_in(client)


def test_logging_out_ends_the_session(visitor: tuple[Client, User]) -> None:
    client, _user = visitor
    key = client.cookies["sessionid"].value
    client.logout()
    client.cookies["sessionid"] = key
    assert not is_in(client)


def test_a_session_and_its_user_are_one_question_once_it_is_known_whose_it_is(visitor: tuple[Client, User]) -> None:
    client, user = visitor

    def of_accounts() -> list[str]:
        with CaptureQueriesContext(connection) as asked:
            assert is_in(client)
        return [query["sql"] for query in asked if "auth_user" in query["sql"] and "password" in query["sql"]]

    sessions._guesses.clear()
    assert len(of_accounts()) == 2
    (both,) = of_accounts()
    assert "django_session" in both
    User.objects.filter(pk=user.pk).update(username="vera-2")
    assert client.get("/hosts").wsgi_request.user.username == "vera-2"


def test_what_is_remembered_of_a_session_is_never_believed(visitor: tuple[Client, User]) -> None:
    client, user = visitor
    assert is_in(client)
    other = make_user("otto", "a password of his")
    sessions._guesses[client.cookies["sessionid"].value] = other.pk
    assert client.get("/hosts").wsgi_request.user == user
    Session.objects.update(session_data="e30:forged:signature")
    assert not is_in(client)
