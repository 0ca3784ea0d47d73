"""The command that stands just above a tool's output, where somebody pasted both."""

import re
import shlex
from collections.abc import Sequence

_LINES_ABOVE, _LONGEST = 4, 1_000


def options_above(lines: Sequence[str], start: int, command: re.Pattern[str]) -> str:
    """Return the `options` of the nearest command above a line, up to where the shell takes its output; empty for none.

    Words are without their quotes.
    """
    above = (line.strip() for line in reversed(lines[max(0, start - _LINES_ABOVE) : start]) if len(line) <= _LONGEST)
    found = next((match for line in above if (match := command.search(line))), None)
    return _to_the_shell(found["options"]) if found else ""


def _to_the_shell(options: str) -> str:
    words = shlex.shlex(options, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    kept: list[str] = []
    try:
        for word in words:
            # A pipe, a redirection, another command.
            if set(word) <= set("();<>|&"):
                break
            kept.append(word)
    except ValueError:
        # A quote or a backslash that goes on in the next line.
        return options
    return " ".join(kept)
