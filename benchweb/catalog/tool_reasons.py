"""Read what parsers of other tools' outputs remark: they know no languages, and each is found by its pattern."""

import re
from functools import cache

from benchweb.catalog.engine_reasons import sentence_patterns
from benchweb.catalog.messages.tool_sentences import MESSAGES
from benchweb.catalog.reasons import Reason


def tool_reason(text: str) -> str:
    """Return a parser's remark as a reason; what a tool itself printed stays a text."""
    for code, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return Reason(code, **match.groupdict())
    return text


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return sentence_patterns(MESSAGES)
