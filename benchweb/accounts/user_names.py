"""Names of accounts: which there can be, and whose one is, whatever its case, width or spelling in Unicode."""

import unicodedata

from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db.models import CharField, Func, QuerySet, Value

_LONGEST_NAME = 150


class PersonKey(Func):
    """The key that two spellings of one name have in common.

    Upper before lower: by that letters meet that have several small forms, such as σ and ς. The unique index of
    migration 0014 is on the same expression.
    """

    # "C", for the order of an index must outlive a change of collations.
    template = """normalize(replace(lower(upper(normalize(%(expressions)s, NFKC))), 'ß', 'ss'), NFKC) COLLATE "C\""""
    output_field = CharField()


def users_of_name(name: str) -> "QuerySet[User]":
    """Return the account of a name, however it is spelled, and none or one at that."""
    if "\0" in name:
        return User.objects.none()
    storable = name.encode(errors="replace").decode()
    return User.objects.alias(person=PersonKey("username")).filter(person=PersonKey(Value(storable)))


def stored_spelling(name: str) -> str:
    """Return a name as the account has it that it opens, with spaces around it too; without one as it is."""
    return users_of_name(name.strip()).values_list("username", flat=True).first() or name


def is_possible_name(name: str) -> bool:
    """Tell whether an account can have this name."""
    name = User.normalize_username(name)
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        return False
    return len(name) <= _LONGEST_NAME


def has_other_letters(name: str, other: str) -> bool:
    """Tell whether two spellings that no two accounts may have differ in more than case, width and composition.

    So do weiss and weiß: who is one of them to a proxy, a directory or a provider may be another person there.
    """
    return _in_one_case(name) != _in_one_case(other)


def _in_one_case(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).lower())
