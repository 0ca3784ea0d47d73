"""A client of the API, and one of the pages, of the same user."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.services import token_create
from tests.api.conftest import ApiClient


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def api(user: User) -> ApiClient:
    return ApiClient(token_create(user=user, name="scripts")[1])


@pytest.fixture
def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
