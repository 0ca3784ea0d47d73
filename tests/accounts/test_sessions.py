"""Who a session lets in."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.accounts.models import UserSession
from tests.factories import make_user


@pytest.fixture
def visitor(db: None) -> tuple[Client, User]:
    """Return a browser in which a user is logged in."""
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
    UserSession.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_in(client)
    UserSession.objects.all().delete()
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
