"""What a name may hold, for pages and API alike; imports no room."""

import unicodedata

MAXIMUM_LENGTH = 100
_LINE_BREAKING = {"Cc", "Zl", "Zp"}
# Blanks, marks that need a letter to stand on, and what has no width; a few letters and signs are blank as well.
_UNSEEN = {*_LINE_BREAKING, "Zs", "Cf", "Mn"}
_BLANK = set("\u115f\u1160\u2800\u3164\uffa0")


def name_fault(name: str) -> str:
    """Say what is wrong with a name of something, or nothing."""
    if not 1 <= len(name.strip()) <= MAXIMUM_LENGTH:
        return f"A name has 1 to {MAXIMUM_LENGTH} characters."
    return text_fault(name)


def text_fault(text: str) -> str:
    """Say why a text can't stand on one line among others, or nothing."""
    if any(unicodedata.category(character) in _LINE_BREAKING for character in text):
        return "Control characters and line breaks can't be in a name: leave them out."
    # With these one name can be made to look like another.
    if any("\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069" for character in text):
        return "Characters that turn the direction of writing can't be in a name: leave them out."
    if text.strip() and not any(_is_seen(character) for character in text):
        return "At least one character of a name must be visible."
    return ""


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _BLANK
