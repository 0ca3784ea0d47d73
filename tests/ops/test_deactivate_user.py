"""`manage.py deactivate_user` shuts an account, but not the last admin's."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.services import token_create, token_user

pytestmark = pytest.mark.django_db


def test_a_user_is_out_at_once_and_the_last_admin_stays(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"
    root, vera = User.objects.create_superuser("root"), User.objects.create_user("vera")
    _row, secret = token_create(user=vera, name="script")
    browser, written = Client(), StringIO()
    browser.force_login(vera)
    call_command("deactivate_user", "vera", stdout=written)
    assert written.getvalue() == "vera is deactivated. Sessions ended: 1; tokens refused: 1.\n"
    assert browser.get("/hosts").status_code == 302
    assert token_user(secret=secret) is None
    with pytest.raises(CommandError, match="This would leave no admin"):
        call_command("deactivate_user", "root")
    root.refresh_from_db()
    assert root.is_active
    with pytest.raises(CommandError, match="There is no user eve"):
        call_command("deactivate_user", "eve")
