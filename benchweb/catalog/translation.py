"""What the catalog says to people: written in English, read in the reader's language."""

import re
from functools import cache
from typing import Any

from django.utils.translation import get_language, gettext, pgettext

# The one of django.utils.translation reads the settings at once; processes without Django import the catalog too.
from django.utils.translation.trans_null import gettext_noop

from benchweb.catalog.messages import MESSAGES
from benchweb.catalog.reasons import JOINED, Reason

# Values that are words; others, as tcp or sendmmsg, are names that no language has another for.
_VALUES = (gettext_noop("forward"), gettext_noop("reverse"), gettext_noop("bidirectional"))

# Names are set off by spaces, also where a word of the language fills the place.
_BETWEEN_CHARACTERS = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


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


def unknown_words() -> str:
    """Say that an imported text doesn't tell a parameter, whose value is None then."""
    return pgettext("a parameter's value", "unknown")


def reason_text(reason: str) -> str:
    """Say a reason in the reader's language; of a text that is none what is marked for translation as a whole."""
    if get_language() in (None, "en"):
        return str(reason)
    return _translated_text(reason) if isinstance(reason, Reason) else translated(reason)


def sentence_space() -> str:
    """Return what stands between two whole sentences: nothing behind a full stop as wide as a character."""
    return pgettext("between sentences", ". ")[1:]


def _translated_text(reason: str) -> str:
    if not isinstance(reason, Reason):
        return reason
    translated_params = {name: _parameter(value) for name, value in reason.params.items()}
    if reason.code == JOINED:
        return _joint(translated_params["joint"], translated_params["parts"][0]).join(translated_params["parts"])
    return _BETWEEN_CHARACTERS.sub("", gettext(MESSAGES[reason.code]).format(**translated_params))


def _parameter(value: Any) -> Any:
    if isinstance(value, list):
        return [_translated_text(item) for item in value]
    return _translated_text(value) if isinstance(value, str) else value


def _joint(joint: str, before: str) -> str:
    """Return what stands between two reasons; behind a full stop as wide as a character there is no space."""
    match joint:
        case " ":
            return "" if before.endswith("\u3002") else " "
        case ": ":
            return pgettext("before a figure", ": ")
        case _:
            return pgettext("between parts of a sentence", joint)


@cache
def _translated(text: str, _language: str | None) -> str:
    """Keep what was said: texts are as many as the catalog has, and a comparison asks a thousand times."""
    return gettext(text)
