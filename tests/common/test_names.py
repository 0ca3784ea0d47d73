"""Names: one form in which they are stored, one key by which they are compared."""

import unicodedata

import pytest

from benchweb.common.names import name_key, stored_name


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (unicodedata.normalize("NFD", "Zürich-é"), "Zürich-é"),
        ("  db1\u00a0 ", "db1"),
        ("d\u200bb\u200d1\ufeff", "db1"),
        ("a  b\u3000c", "a b c"),
        ("Å", "Å"),
        ("\u200erack\u200f", "rack"),
        ("db\ufe0f1", "db1"),
        ("👩\u200d🔬 lab", "👩\u200d🔬 lab"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("葛\U000e0100", "葛\U000e0100"),
    ],
)
def test_names_are_stored_in_one_form(typed: str, stored: str) -> None:
    assert stored_name(typed) == stored_name(stored) == stored


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DB1", "db1"),
        ("ｄｂ１", "db1"),
        ("Straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("İ", "i̇"),
        ("Σς", "σσ"),
        ("👩\u200d🔬", "👩🔬"),
        ("می\u200cخ", "میخ"),
    ],
)
def test_spellings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)
