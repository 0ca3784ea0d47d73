"""An admin's script, where everybody else is a viewer."""

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from benchweb.accounts.models import Grant, Role


@pytest.fixture(autouse=True)
def default_role(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"


@pytest.fixture(autouse=True)
def admin(user: User) -> User:
    """The user whose token `api` has, and the only admin."""
    Grant.objects.create(user=user, role=Role.ADMIN)
    return user
