"""Say what a name may hold and how it is stored and looked up, for pages and API alike; imports no room."""

import unicodedata
from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

KINDS = (
    *(gettext_noop("host"), gettext_noop("endpoint"), gettext_noop("pair"), gettext_noop("environment")),
    *(gettext_noop("plan"), gettext_noop("schedule")),
)
MAXIMUM_LENGTH = 100
# A compatibility character may stand for eighteen letters: a key is cut before an index refuses it.
MAXIMUM_KEY_LENGTH = 600
MAXIMUM_UNIT_LENGTH = 20
_NO_UNIT = set("<>&\"'")
_LINE_BREAKING = {"Cc", "Zl", "Zp"}
# Blanks, marks that need a letter to stand on, and what has no width; a few letters and signs are blank as well.
_UNSEEN = {*_LINE_BREAKING, "Zs", "Cf", "Mn"}
_BLANK = set("\u115f\u1160\u2800\u3164\uffa0")
# Of category Cf, and yet drawn: signs that stand before numbers in Arabic, Syriac and Kaithi.
_DRAWN = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Without width, and yet part of how what stands before is drawn: joiners, selectors, the letters of flags.
_JOINERS = {"\u200c", "\u200d"}
_SELECTORS = {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}
_FLAG_LETTERS = set(map(chr, range(0xE0020, 0xE0080)))
_VIRAMA = 9


def kind_word(row: object) -> str:
    """Return what kind of thing a row is: host, endpoint, pair."""
    return _(type(row).__name__.lower())


def name_fault(name: str) -> str:
    """Say what is wrong with a name of something, or nothing."""
    if not name.strip() or len(stored_name(name)) > MAXIMUM_LENGTH:
        return _("A name has 1 to {maximum_length} characters.").format(maximum_length=MAXIMUM_LENGTH)
    return text_fault(name)


def text_fault(text: str) -> str:
    """Say why a text can't stand on one line among others, or nothing."""
    if any(unicodedata.category(character) in _LINE_BREAKING for character in text):
        return _("Control characters and line breaks can't be in a name: leave them out.")
    # With these one name can be made to look like another.
    if any(map(_turns_writing, text)):
        return _("Characters that turn the direction of writing can't be in a name: leave them out.")
    if text.strip() and not any(_is_seen(character) for character in text):
        return _("At least one character of a name must be visible.")
    return ""


def unit_fault(unit: str) -> str:
    """Say why a text can't be a unit, or nothing: units stand within markup, titles and tables everywhere."""
    if len(unit) > MAXIMUM_UNIT_LENGTH:
        return _("A unit has at most {most} characters.").format(most=MAXIMUM_UNIT_LENGTH)
    if any(character in _NO_UNIT for character in unit):
        return _("A unit can't hold any of < > & \" ': leave them out.")
    return text_fault(unit)


def stored_name(name: str) -> str:
    """Return a name as it is stored: NFC, on one line, without characters that are not seen, single blanks inside."""
    characters: list[str] = []
    for character in name:
        if not _is_without_width(character) or (characters and _draws(character, characters[-1])):
            characters.append(" " if unicodedata.category(character) in _LINE_BREAKING else character)
    return _tidied_name(characters)


def name_key(name: str) -> str:
    """Return what names are compared by: two that look alike but for case, width or spelling in Unicode have one."""
    folded = unicodedata.normalize("NFKC", stored_name(name)).casefold()
    seen = [character for character in unicodedata.normalize("NFKC", folded) if not _is_without_width(character)]
    return _tidied_name(seen)[:MAXIMUM_KEY_LENGTH]


def searched(text: str) -> str:
    """Return what somebody looks for as names are stored, whatever was typed or pasted."""
    return stored_name(text.replace("\0", ""))


def _is_without_width(character: str) -> bool:
    """Return whether a character takes no room on a line: joiners, marks of direction, byte order marks."""
    is_format = unicodedata.category(character) == "Cf" and character not in _DRAWN
    return is_format or character == "\u034f" or character in _SELECTORS


def _draws(character: str, before: str) -> bool:
    """Return whether a character without width belongs to the one before: in emoji, ideographs, Arabic and Indic."""
    if character not in _JOINERS | _SELECTORS | _FLAG_LETTERS:
        return False
    if unicodedata.category(before) in ("So", "Sk") or before in _SELECTORS | _FLAG_LETTERS:
        return True
    if character in _SELECTORS:
        return unicodedata.category(before) == "Lo"
    joins = unicodedata.bidirectional(before) == "AL" or unicodedata.combining(before) == _VIRAMA
    return joins and character in _JOINERS


def _tidied_name(characters: Iterable[str]) -> str:
    return " ".join(unicodedata.normalize("NFC", "".join(characters)).split())


def _turns_writing(character: str) -> bool:
    return "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069"


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _BLANK
