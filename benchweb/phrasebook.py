"""Say stored sentences in the reader's language.

Reasons, events and refusals are written where they arise: in a worker, in a service, by the engine. There is one
language in the database, in the logs and in the API, English. Their patterns ("{failed} of {total} trials failed") are
texts of benchweb/locale as any other; here a sentence finds its pattern, and what it fills in is said the same way.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from django.utils.translation import get_language, gettext, gettext_noop, pgettext, to_locale

from benchweb.common import po_files

_LOCALE = Path(__file__).parent / "locale"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# Where one sentence or part ends and the next begins, the longest first.
_JOINTS = (". ", "; ", ": ", ", ")
# Names are set off by spaces, also where a word of the language fills the place.
_BETWEEN_CHARACTERS = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_CACHE_SIZE = 4_096
# A name that happens to be a word of ours stays as it is: single words are translated in these placeholders only.
_TRANSLATED_PLACEHOLDERS = {"state", "what", "place", "position", "which", "attempts", "side", "unit"}
# Sentences too short to be told from what code says to programs.
_SHORT = (
    gettext_noop("Run {state}: {reason}"),
    gettext_noop("Run {state}."),
    gettext_noop("Trial {index} ({kind}) {state}: {reason}"),
    gettext_noop("{state}: {reason}"),
    gettext_noop("{count} of {total} {state}"),
    gettext_noop("{count} {state}"),
    gettext_noop("Run {run}: {reason}"),
    gettext_noop("{cron_part} in {cron_field}: {how}."),
    gettext_noop("host {host}"),
    gettext_noop("uplink {uplink}"),
    gettext_noop("number {number}"),
    gettext_noop("Interface {interface}"),
    gettext_noop("{interface} Driver"),
    gettext_noop("{interface} MTU"),
    gettext_noop("{interface} Speed"),
    gettext_noop("{interface} Addresses"),
    gettext_noop("{interface} Offloads on"),
    gettext_noop("not measured"),
    # Reasons are kept as they were written: as versions before this one did.
    gettext_noop("host {host} has not answered since {since}"),
    gettext_noop("{end} has not answered since {unreachable_since} UTC"),
)
# What these placeholders take; without it "{count} of {total} {state}" would take any sentence of that shape.
_FORMS = {
    "state": "pending|running|finished|failed|cancelled|missed|nonstart|not started|skipped",
    # Numbers: else "of … trials failed" would take what stands before it for the first of them.
    **dict.fromkeys(("count", "total", "done", "failed", "stopped", "unstarted"), "[0-9,]+"),
    "run": "[0-9]+",
    # Else of two reasons in one sentence the first would be the beginning of the other's time.
    "unreachable_since": "[0-9: -]+",
    "ends": "[^.:]+",
    # As Python shows a text: between quotes.
    "cron_part": "'[^']+'|\"[^\"]+\"",
    "cron_field": "the [a-z ]+",
    # Else "b (host) (10.0.0.2:7410)" would be a name and an address with brackets in it.
    "address": r"[^()]+",
}
# Pages say these themselves; as patterns they would take "reset by peer" for a chart's title, and any "to" for a span.
_NO_SENTENCES = {
    "{begin} to {end}",
    "{low} to {high}",
    "{low} to {high} {unit}",
    "{quantity} by {parameter}",
    "{sources} to {sinks}{inside}",
}
_SINGLE_WORDS = (
    *(gettext_noop("host"), gettext_noop("endpoint"), gettext_noop("pair"), gettext_noop("environment")),
    *(gettext_noop("source"), gettext_noop("sink"), gettext_noop("plan"), gettext_noop("label")),
    *(gettext_noop("first"), gettext_noop("second"), gettext_noop("third"), gettext_noop("fourth")),
    *(gettext_noop("fifth"), gettext_noop("sixth"), gettext_noop("seventh"), gettext_noop("eighth")),
    *(gettext_noop("ninth"), gettext_noop("tenth")),
)


class _Pattern(NamedTuple):
    """A text with placeholders, as a regular expression; `weight` is the length of what it says itself."""

    weight: int
    text: str
    expression: re.Pattern[str]


def translated(sentence: str) -> str:
    """Say a sentence that was written in English; one that no pattern knows stays as it is."""
    if not sentence:
        return sentence
    language = get_language()
    return sentence if language in (None, "en") else _translated(sentence, str(language))


@lru_cache(maxsize=_CACHE_SIZE)
def _translated(sentence: str, language: str) -> str:
    exact = gettext(sentence)
    if exact != sentence:
        return exact
    for pattern in _patterns(language):
        if found := pattern.expression.fullmatch(sentence):
            filled = {name: _filled(name, text, language) for name, text in found.groupdict().items()}
            return _BETWEEN_CHARACTERS.sub("", gettext(pattern.text).format(**filled))
    if (
        sentence.endswith(".")
        and ". " not in sentence
        and (whole := _translated(sentence[:-1], language)) != sentence[:-1]
    ):
        return whole + pgettext("end of a sentence", ".")
    return _in_parts(sentence, language)


def sentence_gap() -> str:
    """Return what stands between two whole sentences: nothing behind a full stop as wide as a character."""
    return pgettext("between sentences", ". ")[1:]


def _filled(placeholder: str, text: str, language: str) -> str:
    return _translated(text, language) if " " in text or placeholder in _TRANSLATED_PLACEHOLDERS else text


def _in_parts(sentence: str, language: str) -> str:
    """Say what is joined of several sentences part by part."""
    for joint in _JOINTS:
        before, found, after = sentence.partition(joint)
        if not found:
            continue
        parts = [before + joint.rstrip() if joint == ". " else before, after]
        spoken = [_translated(part, language) for part in parts]
        if spoken != parts:
            return _spoken_joint(joint, spoken[0]).join(spoken)
    return sentence


def _spoken_joint(joint: str, before: str) -> str:
    if joint == ". ":
        # Behind a full stop as wide as a character there is no space.
        return "" if before.endswith("。") else " "
    return pgettext("before a figure", ": ") if joint == ": " else pgettext("between parts of a sentence", joint)


@cache
def _patterns(language: str) -> list[_Pattern]:
    """Return the texts with placeholders that a language knows, those that say most themselves first."""
    source = _LOCALE / to_locale(language) / "LC_MESSAGES" / "django.po"
    entries = po_files.read(source) if source.exists() else []
    plain = [entry for entry in entries if entry.is_translated and not entry.context and not entry.plural]
    known = {entry.msgid for entry in plain if _PLACEHOLDER.search(entry.msgid)}
    return sorted((_pattern(text) for text in known - _NO_SENTENCES), reverse=True)


def _pattern(text: str) -> _Pattern:
    pieces = _PLACEHOLDER.split(text)
    names: list[str] = []
    expression = ""
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            expression += re.escape(piece)
        elif piece in names:
            expression += f"(?P={piece})"
        else:
            names.append(piece)
            # A second of a kind is numbered: "day_2".
            form = _FORMS.get(piece) or _FORMS.get(piece.partition("_")[0], ".+?")
            expression += f"(?P<{piece}>{form})"
    return _Pattern(sum(map(len, pieces[::2])), text, re.compile(expression, re.DOTALL))
