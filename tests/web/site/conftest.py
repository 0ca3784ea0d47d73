"""Settings that the environment leaves free, and an admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import Grant, Role
from benchweb.site.values import NAMES, variable


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the settings out of the environment."""
    for name in NAMES:
        monkeypatch.delenv(variable(name), raising=False)


@pytest.fixture
def by_admin(ada: User, signed_in: Client) -> Client:
    Grant.objects.create(user=ada, role=Role.ADMIN)
    return signed_in
