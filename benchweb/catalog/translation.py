"""What the catalog says to people: written in English, read in the reader's language."""

from functools import cache
from typing import Any

from django.utils.translation import get_language, gettext, gettext_noop

# Values that are words; others, as tcp or sendmmsg, are names that no language has another for.
_VALUES = (gettext_noop("forward"), gettext_noop("reverse"), gettext_noop("bidirectional"))


class TranslatedText:
    """A text of a dataclass: set to the catalog's English, read in the language of whoever asks."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: Any, owner: type) -> str:
        if instance is None:
            # To a dataclass this means: there is no default.
            raise AttributeError(self._name)
        return translated(instance.__dict__[self._name])

    def __set__(self, instance: Any, text: str) -> None:
        instance.__dict__[self._name] = text


def translated(text: str) -> str:
    """Say a text of the catalog in the reader's language; a private kind's texts stay as they are."""
    # gettext gives its own header for the empty text.
    return _translated(text, get_language()) if text else text


def value_text(value: str) -> str:
    """Say a parameter's value, where it is a word, in the reader's language."""
    return translated(value) if value in _VALUES else value


@cache
def _translated(text: str, _language: str | None) -> str:
    """Keep what was said: texts are as many as the catalog has, and a comparison asks a thousand times."""
    return gettext(text)
