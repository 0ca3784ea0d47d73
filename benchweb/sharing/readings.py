"""One text in its many forms: unescaped, without what is unseen, in one case and one script; with the places of all."""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchweb.sharing.lookalikes import CAPITALS, SMALL

# The text itself and three steps of undoing escapes: a URL in a JSON text in a page.
_MOST_STEPS = 4
# Well-formed UTF-8 by its bytes, or one byte of Latin-1; JSON's \u with the pairs of surrogates; a page's entities.
_ESCAPE = re.compile(
    r"(?P<percent>%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}"
    r"|%[0-9a-f]{2})"
    r"|(?P<entity>&\#?[0-9a-z]{1,31};)"
    r"|\\u(?P<high>d[89ab][0-9a-f]{2})\\u(?P<low>d[c-f][0-9a-f]{2})"
    r"|(?-i:\\U)(?P<long>00(?:0[0-9a-f]|10)[0-9a-f]{4})|\\u(?P<code>[0-9a-f]{4})|\\x(?P<byte>[0-9a-f]{2})"
    r"|\\(?P<sign>[bfnrt\"'/\\])",
    re.IGNORECASE,
)
_BLANKS = re.compile("[bfnrt]")
_DOT_ABOVE = "\u0307"
# What shows nothing beside the characters of category Cf: fillers, joiners and selectors of variants.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


@dataclass(frozen=True)
class Reading:
    """A form of a text; each of its characters stands for `starts` to `ends` of the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of a part of this form."""
        return min(self.starts[start:end]), max(self.ends[start:end])


def readings(text: str) -> list[Reading]:
    """Read a text as it stands, with escapes undone step by step, and each of these without what is unseen."""
    steps = [Reading(text, range(len(text)), range(1, len(text) + 1))]
    while len(steps) < _MOST_STEPS and (unescaped := _unescaped(steps[-1])).text != steps[-1].text:
        steps.append(unescaped)
    return steps + [_seen(step) for step in steps if any(map(_is_unseen, step.text))]


def folded(reading: Reading, *, lookalikes: bool) -> Reading:
    """Return a form in which case and composition make no difference; nor, if asked for, do letters that look alike."""
    if reading.text.isascii():
        return Reading(reading.text.lower(), reading.starts, reading.ends)
    letters = zip(reading.text, reading.starts, reading.ends, strict=True)
    parts = [(part, start, end) for letter, start, end in letters for part in _folded_letter(letter, lookalikes)]
    return _reading(_without_dots(_ordered(parts)))


def folded_text(text: str, *, lookalikes: bool) -> str:
    """Fold a text whose places don't matter."""
    return folded(_seen(readings(text)[0]), lookalikes=lookalikes).text


def goes_on(text: str, end: int) -> bool:
    """Tell whether the letter before a place in a folded form isn't whole there: an accent or a jamo follows."""
    return end < len(text) and (unicodedata.combining(text[end]) != 0 or "\u1160" <= text[end] <= "\u11ff")


_Part = tuple[str, int, int]


def _reading(parts: Iterable[_Part]) -> Reading:
    parts = list(parts)
    return Reading("".join(part[0] for part in parts), [part[1] for part in parts], [part[2] for part in parts])


def _unescaped(reading: Reading) -> Reading:
    if not any(sign in reading.text for sign in "%&\\"):
        return reading
    parts: list[_Part] = []
    at = 0
    everything = list(zip(reading.text, reading.starts, reading.ends, strict=True))
    for match in _ESCAPE.finditer(reading.text):
        parts += everything[at : match.start()]
        span = reading.original_span(*match.span())
        parts += [(letter, *span) for letter in _meaning(match)]
        at = match.end()
    return _reading(parts + everything[at:])


def _meaning(match: re.Match[str]) -> str:
    if match["percent"]:
        decoded = bytes.fromhex(match["percent"].replace("%", ""))
        try:
            return decoded.decode()
        except UnicodeDecodeError:
            return decoded.decode("latin-1")
    if match["entity"]:
        return html.unescape(match["entity"])
    if match["high"]:
        return chr(0x10000 + (int(match["high"], 16) - 0xD800) * 0x400 + int(match["low"], 16) - 0xDC00)
    if code := match["long"] or match["code"] or match["byte"]:
        return chr(int(code, 16))
    return _BLANKS.sub(" ", match["sign"])


def _seen(reading: Reading) -> Reading:
    letters = zip(reading.text, reading.starts, reading.ends, strict=True)
    return _reading(part for part in letters if not _is_unseen(part[0]))


def _is_unseen(character: str) -> bool:
    return not character.isascii() and (unicodedata.category(character) == "Cf" or bool(_UNSEEN.match(character)))


@lru_cache(maxsize=4096)
def _folded_letter(letter: str, lookalikes: bool) -> str:
    parts = unicodedata.normalize("NFKD", letter)
    if lookalikes:
        parts = parts.translate(CAPITALS)
    parts = unicodedata.normalize("NFKD", parts.casefold()).casefold()
    if lookalikes:
        parts = parts.translate(SMALL)
    # Turkish writes i with and without its dot in both cases.
    return parts.replace("ı", "i")


def _ordered(parts: list[_Part]) -> list[_Part]:
    """Put the accents of each letter into Unicode's order."""
    ordered: list[_Part] = []
    accents: list[_Part] = []
    for part in parts:
        if unicodedata.combining(part[0]):
            accents.append(part)
            continue
        ordered += [*sorted(accents, key=_accent_class), part]
        accents = []
    return ordered + sorted(accents, key=_accent_class)


def _accent_class(part: _Part) -> int:
    return unicodedata.combining(part[0])


def _without_dots(parts: list[_Part]) -> Iterator[_Part]:
    """Leave out a dot above i, which has one; its place goes with the letter's."""
    for index, (letter, start, end) in enumerate(parts):
        if letter == _DOT_ABOVE and index and parts[index - 1][0] == "i":
            continue
        has_dot = letter == "i" and index + 1 < len(parts) and parts[index + 1][0] == _DOT_ABOVE
        yield letter, start, max(end, parts[index + 1][2]) if has_dot else end
