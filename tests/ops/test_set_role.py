"""`manage.py set_role` gives a role, changes it and takes it."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from benchweb.accounts.models import Role
from benchweb.accounts.permissions import Permission, access_of
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


def set_role(*words: str) -> str:
    written = StringIO()
    call_command("set_role", *words, stdout=written)
    return written.getvalue()


def test_a_role_is_given_changed_and_taken() -> None:
    ada, lab = User.objects.create_user("ada"), make_environment("lab")
    set_role("ada", "operator")
    assert set_role("ada", "viewer") == "ada has the role viewer everywhere.\n"
    assert access_of(ada).everywhere == Role.VIEWER
    set_role("ada", "editor", "--environment", "LAB")
    assert access_of(ada).may_in(Permission.WRITE, lab.pk)
    set_role("ada", "none", "--environment", "lab")
    assert not access_of(ada).may_in(Permission.WRITE, lab.pk)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("grace", "viewer"), "no user grace"),
        (("ada", "viewer", "--environment", "mars"), "no environment mars"),
        (("ada", "admin", "--environment", "lab"), "leave out --environment"),
    ],
)
def test_what_can_not_be_is_refused(words: tuple[str, ...], fault: str) -> None:
    User.objects.create_user("ada")
    make_environment("lab")
    with pytest.raises(CommandError, match=fault):
        set_role(*words)
