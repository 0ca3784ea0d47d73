"""Read the sentences of engines: they speak English alone, and each is found again by its pattern.

What no pattern knows, as of newer engines, stays a text.
"""

import re
from functools import cache

from benchweb.catalog.messages.engine_sentences import MESSAGES
from benchweb.catalog.reasons import Reason, joined

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# Where one part of a sentence ends and the next begins, the longest first.
_JOINTS = (". ", "; ", ": ", ", ")
# Else "of … datagrams" would take what stands before it for a count.
_FORMS = dict.fromkeys(("count", "bytes", "bytes_2"), "[0-9,]+")


def engine_reason(text: str) -> str:
    """Return what an engine says as a reason, whole or by its parts; the text itself where nothing of it is known."""
    for code, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return Reason(code, **{name: engine_reason(value) for name, value in match.groupdict().items()})
    for joint in _JOINTS:
        before, found, after = text.partition(joint)
        if not found:
            continue
        parts = [engine_reason(before + joint.rstrip() if joint == ". " else before), engine_reason(after)]
        if any(isinstance(part, Reason) for part in parts):
            return joined(parts, " " if joint == ". " else joint)
    return text


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns by code, those first that say most themselves."""
    by_length = sorted(MESSAGES.items(), key=lambda item: -len(_PLACEHOLDER.sub("", item[1])))
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
