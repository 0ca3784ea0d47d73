"""One regular expression for thousands of words: what it takes to look for them hardly grows with their number."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

# A word ends here; no character is empty.
_END = ""
# Parentheses within each other that the compiler of expressions takes; words that share more go side by side.
_DEEPEST = 60


def one_of(words: Iterable[str], *, blank: str) -> str:
    """Return an expression that finds any of the words, the longest that is there; a space in one is `blank`.

    Beginnings that words share are written once, so that at each place one character says which words are left.
    """
    tree: dict[str, Any] = {}
    for word in words:
        branch = tree
        for character in word:
            branch = branch.setdefault(character, {})
        branch[_END] = {}
    return _written(tree, blank, _DEEPEST)


def _written(branch: Mapping[str, Any], blank: str, deeper: int) -> str:
    if not deeper:
        return _side_by_side(branch, blank)
    choices = [_chain(character, rest, blank, deeper) for character, rest in branch.items() if character != _END]
    if not choices:
        return ""
    text = choices[0] if len(choices) == 1 and _END not in branch else f"(?:{'|'.join(choices)})"
    return f"{text}?" if _END in branch else text


def _chain(character: str, branch: Mapping[str, Any], blank: str, deeper: int) -> str:
    """Write what follows without a choice in one piece."""
    text = _literal(character, blank)
    while len(branch) == 1 and _END not in branch:
        ((character, branch),) = branch.items()
        text += _literal(character, blank)
    return text + _written(branch, blank, deeper - 1)


def _side_by_side(branch: Mapping[str, Any], blank: str) -> str:
    ends = sorted(_ends(branch), key=len, reverse=True)
    return f"(?:{'|'.join(''.join(_literal(part, blank) for part in end) for end in ends)})"


def _ends(branch: Mapping[str, Any]) -> list[str]:
    ends = []
    waiting = [("", branch)]
    while waiting:
        text, rest = waiting.pop()
        ends += [text] if _END in rest else []
        waiting += [(text + character, deeper) for character, deeper in rest.items() if character != _END]
    return ends


def _literal(character: str, blank: str) -> str:
    return blank if character == " " else re.escape(character)
