"""Read what engines say: a sentence in English, with its code and parameters.

Engines of before the codes send the sentence alone, and so do the facts that they told: it is found again by its
pattern. What neither tells, as what only a kernel says, stays a text.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from benchweb.catalog.messages.engine_sentences import MESSAGES
from benchweb.catalog.reasons import Reason, joined, reason_of

# The patterns serve engines of the release before this one; from it on every engine in use sends codes, and they go.
PATTERNS_UNTIL = "0.2.0"

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# Where one part of a sentence ends and the next begins, the longest first.
_JOINTS = (". ", "; ", ": ", ", ")
# Else "of … datagrams" would take what stands before it for a count.
_FORMS = dict.fromkeys(("count", "bytes", "bytes_2", "flow", "thread"), "[0-9,]+")
# No engine of ours joins as many parts; what is longer is not ours, and not worth the time that it would take.
_MOST_JOINTS = 16
_MOST_CHARACTERS = 2_000
# A code's parameters are in its sentence, and little else is around them.
_MOST_DATA_CHARACTERS = 4 * _MOST_CHARACTERS
# Documents of one host say the same few sentences.
_CACHE_SIZE = 4_096


def engine_reason(text: str, data: Any = None) -> str:
    """Return what an engine says as a reason, by its code or its pattern; the text itself where nothing of it is known.

    Of a code that makes another sentence, as a newer engine's, the sentence counts.
    """
    if data is not None and len(json.dumps(data)) <= _MOST_DATA_CHARACTERS:
        reason = reason_of(text, data)
        if isinstance(reason, Reason) and str(reason) == text:
            return reason
    if len(text) > _MOST_CHARACTERS or sum(map(text.count, _JOINTS)) > _MOST_JOINTS:
        return text
    return _reason(text)


@lru_cache(maxsize=_CACHE_SIZE)
def _reason(text: str) -> str:
    """Find a text or its parts again; each part once, for its parts are those of others too."""
    for code, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return Reason(code, **{name: _reason(value) for name, value in match.groupdict().items()})
    for joint in _JOINTS:
        before, separator, after = text.partition(joint)
        if not separator:
            continue
        parts = [_reason(before + joint.rstrip() if joint == ". " else before), _reason(after)]
        if any(isinstance(part, Reason) for part in parts):
            return joined(parts, " " if joint == ". " else joint)
    return text


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return sentence_patterns(MESSAGES)


def sentence_patterns(messages: Mapping[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns of sentences by code, those first that say most themselves."""
    by_length = sorted(messages.items(), key=lambda item: -len(_PLACEHOLDER.sub("", item[1])))
    return [(code, _pattern(text)) for code, text in by_length]


def _pattern(text: str) -> re.Pattern[str]:
    names: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        if name in names:
            return f"(?P={name})"
        names.add(name)
        return f"(?P<{name}>{_FORMS.get(name, '.+?')})"

    # Of what is escaped, braces are written with a backslash before each.
    return re.compile(re.sub(r"\\\{(\w+)\\\}", group, re.escape(text)), re.DOTALL)
