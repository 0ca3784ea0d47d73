"""Find the sentences that the lower rooms and the workers write for people: reasons, events, refusals.

They are stored and logged in English, so no function marks them; benchweb/phrasebook.py says them in the reader's
language where they are shown. A sentence that is put together becomes a pattern with named places.
"""

import ast
import re
from collections.abc import Iterator

# At least two words, and none of what code says to other programs.
_WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}")
_FOR_PROGRAMS = re.compile(
    r"\b(SELECT|UPDATE|INSERT|WHERE|FROM|JOIN|select|insert into|returning|Bearer)\b"
    r"|interval '|\w\.\w+ = |^%|%[sdr]\b|%\(\w+\)s|\bQuerySet\["
    r"|^\^|\{\W| IN \{",
    re.MULTILINE,
)
# Calls whose texts nobody sees on a page.
_UNSEEN = {"debug", "info", "warning", "error", "exception", "execute", "getLogger", "raw", "compile", "TypeVar"}


def of_room(source: str) -> Iterator[str]:
    """Find the sentences of a module, as patterns."""
    tree = ast.parse(source)
    unseen = {id(node) for root in _unseen(tree) for node in ast.walk(root)}
    # A piece of a sentence is none itself.
    pieces = {id(piece) for node in ast.walk(tree) if _is_text(node) for piece in _pieces(node)}
    for node in ast.walk(tree):
        if _is_text(node) and id(node) not in unseen and id(node) not in pieces:
            pattern = _pattern(node)
            if _WORDS.search(re.sub(r"\{\w+\}", "", pattern)) and not _FOR_PROGRAMS.search(pattern):
                yield pattern


def _unseen(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            yield node.returns
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield node.annotation
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _UNSEEN or name in ("_", "gettext_noop"):
                yield node


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _pieces(node: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes whose text is part of this one's; what fills a place may be a sentence of its own."""
    if isinstance(node, ast.JoinedStr):
        yield from (each for each in node.values if isinstance(each, ast.Constant))
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            if _is_text(side):
                yield side
                yield from _pieces(side)


def _pattern(node: ast.AST) -> str:
    return _Places().of(node)


class _Places:
    """Names the places of one pattern, each once."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def of(self, node: ast.AST) -> str:
        """Return the text of a node, with a place for each part that is only known when it runs."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.JoinedStr):
            return "".join(self.of(value) for value in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.of(node.left) + self.of(node.right)
        return "{" + self._name(node.value if isinstance(node, ast.FormattedValue) else node) + "}"

    def _name(self, node: ast.AST) -> str:
        base = name = _word(node)
        number = 2
        while name in self._names:
            name, number = f"{base}_{number}", number + 1
        self._names.add(name)
        return name


def _word(node: ast.AST) -> str:
    """Name a place after what fills it: `run.pair.source` is source, `len(rows)` is rows."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) if word not in ("pk", "name"):
            return word.strip("_").lower()
        case ast.Call(args=[inner, *_]) | ast.Call(func=ast.Attribute(value=inner)):
            return _word(inner)
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return _word(inner)
        case ast.Name(id=word):
            return word
        case _:
            return "text"
