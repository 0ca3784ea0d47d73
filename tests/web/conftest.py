"""A client that is logged in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def ada(db: None) -> User:
    """Return the user who is logged in, without a password: to hash one takes longer than most tests."""
    return User.objects.create_user("ada")


@pytest.fixture
def signed_in(ada: User) -> Client:
    """Return a client logged in as that user."""
    client = Client()
    client.force_login(ada)
    return client
