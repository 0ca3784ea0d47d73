"""One person has one account, however a name is spelled, whichever way it is made; the database sees to it."""

from importlib import import_module

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client

from benchweb.accounts.login.users import user_vouched_for
from benchweb.accounts.roles.grants import RoleError, user_add
from benchweb.accounts.user_names import PersonKey, users_of_name
from tests.factories import make_user

pytestmark = pytest.mark.django_db
MIGRATION = import_module("benchweb.accounts.migrations.0002_roles")
OF_HERS = "a long one of hers"
SPELLINGS = [
    ("ann", "ANN"),
    ("ann", "ａｎｎ"),
    ("José", "JOSE\u0301"),
    ("müller", "MÜLLER"),
    ("straße", "STRASSE"),
    ("ΝΊΚΟΣ", "νίκος"),
    ("ﬁona", "FIONA"),
]


@pytest.mark.parametrize(("name", "other"), SPELLINGS)
def test_the_database_takes_no_second_spelling(name: str, other: str) -> None:
    User.objects.create(username=name)
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.bulk_create([User(username=other)])
    assert users_of_name(other).get().username == name


@pytest.mark.parametrize(("name", "other"), SPELLINGS)
def test_neither_a_page_nor_a_proxy_makes_one(name: str, other: str) -> None:
    user = User.objects.create(username=name, is_active=False)
    user.set_unusable_password()
    user.save()
    with pytest.raises(RoleError, match="There is a user of this name already"):
        user_add(name=other)
    assert user_vouched_for(name=other) is None
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "other"),
    [("admin", "adm\N{LATIN SMALL LETTER DOTLESS I}n"), ("weiss", "weiß"), ("WEISS", "weiß"), ("ines", "İnes")],
)
def test_nobody_vouches_for_an_account_by_letters_that_only_look_related(
    name: str, other: str, caplog: pytest.LogCaptureFixture
) -> None:
    caches["default"].clear()
    User.objects.create_user(name)
    assert user_vouched_for(name=other) is None
    assert "other letters" in caplog.text
    assert user_vouched_for(name=name.swapcase()) is not None
    assert User.objects.count() == 1


@pytest.mark.parametrize(("name", "other"), [pair for pair in SPELLINGS if pair[0] != "straße"])
def test_case_width_and_composition_are_no_other_letters(name: str, other: str) -> None:
    user = User.objects.create_user(name)
    assert user_vouched_for(name=other) == user


def test_different_people_are_different() -> None:
    for name in ("ann", "anna", "ànn", "ann1", "张三", "张三丰"):
        User.objects.create(username=name)
    assert users_of_name("ANN").get().username == "ann"
    assert not users_of_name("an").exists()
    for name in ("\0ann", "ann\0", "ann\ud800"):
        assert not users_of_name(name).exists()


def test_a_password_opens_the_account_however_the_name_is_typed() -> None:
    make_user("ann", OF_HERS)
    for name in ("ann", "ANN", "ａｎｎ"):
        client = Client()
        assert client.post("/login", {"username": name, "password": OF_HERS})["Location"] == "/"
    assert Client().post("/login", {"username": "ANN", "password": OF_HERS.upper()}).status_code == 200


def test_the_index_and_the_look_up_are_one_expression() -> None:
    assert PersonKey.template.replace("%(expressions)s", "username") == MIGRATION.KEY
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "accounts_one_person" in users_of_name("ann").explain()


@pytest.mark.parametrize(
    ("name", "new", "why"), [("x", "y", "no account"), ("ann", "BOB", "already"), ("ann", "a b", "letters")]
)
def test_an_account_is_renamed_only_to_what_can_be(name: str, new: str, why: str) -> None:
    User.objects.create(username="ann")
    User.objects.create(username="bob")
    with pytest.raises(CommandError, match=why), transaction.atomic():
        call_command("rename_user", name, new)
    assert sorted(User.objects.values_list("username", flat=True)) == ["ann", "bob"]


def test_an_account_that_is_renamed_gives_its_name_free() -> None:
    User.objects.create(username="ANN")
    call_command("rename_user", "ANN", "ann.other")
    User.objects.create(username="ann")
    assert sorted(User.objects.values_list("username", flat=True)) == ["ann", "ann.other"]
