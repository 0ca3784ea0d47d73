"""Find every text that the pages translate: in templates, Python, the catalog and the browser's scripts.

Without gettext's own programs: Django's parser reads the templates, Python's the code. What is found is merged into
benchweb/locale, one entry per text, in the order of the alphabet, so that two branches seldom touch the same lines.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polib
from django.template import Template
from django.template.base import Lexer, TokenType
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from benchweb.catalog.document import CATALOG_FILE
from benchweb.catalog.messages import MESSAGES
from benchweb.ops.running.home import PROJECT

PACKAGE = PROJECT / "benchweb"
SCRIPTS = PROJECT / "frontend" / "src"
REASONS = PACKAGE / "catalog" / "messages"
# The functions that mark a text, by the places of context, text and plural among their arguments.
_MARKS: dict[str, tuple[int | None, int, int | None]] = {
    "_": (None, 0, None),
    "gettext": (None, 0, None),
    "gettext_lazy": (None, 0, None),
    "_lazy": (None, 0, None),
    "gettext_noop": (None, 0, None),
    "ngettext": (None, 0, 1),
    "ngettext_lazy": (None, 0, 1),
    "pgettext": (0, 1, None),
    "pgettext_lazy": (0, 1, None),
    "npgettext": (0, 1, 2),
}
# A text that a template hands on: {% include "a.html" with empty=_("Nothing yet") %}.
_HANDED_ON = re.compile(r"""\b_\((["'])(?P<text>.*?)\1\)""")
_IN_SCRIPT = re.compile(r"""\bsay\(\s*"(?P<text>(?:[^"\\]|\\.)*)\"""")
_OF_THE_CATALOG = ("label", "help", "summary", "quantity", "title", "unit")


@dataclass(frozen=True, order=True)
class Text:
    """A text to translate, in English; `plural` where its form depends on a number."""

    msgid: str
    plural: str = ""
    context: str = ""


def texts() -> dict[Text, set[str]]:
    """Return every text with the files that use it."""
    texts_of_paths: dict[Text, set[str]] = {}
    for text, path in _all():
        if text.msgid:
            texts_of_paths.setdefault(text, set()).add(str(path.relative_to(PROJECT)))
    # gettext knows a text once: where it also has a plural, that entry serves both.
    with_plural = {(text.msgid, text.context) for text in texts_of_paths if text.plural}
    return {
        text: paths
        for text, paths in texts_of_paths.items()
        if text.plural or (text.msgid, text.context) not in with_plural
    }


def merge(translations: polib.POFile, used: dict[Text, set[str]]) -> None:
    """Bring translations to what was found: those there are stay, new texts have none yet, gone ones are dropped."""
    known = {(entry.msgid, entry.msgctxt): entry for entry in translations}
    translations.clear()
    for text in sorted(used):
        context = text.context or None
        entry = known.get((text.msgid, context)) or polib.POEntry(msgid=text.msgid, msgctxt=context)
        forms = [*entry.msgstr_plural.values()] or [entry.msgstr]
        entry.msgid_plural = text.plural
        entry.msgstr, entry.msgstr_plural = ("", dict(enumerate(forms))) if text.plural else (forms[0], {})
        entry.occurrences = [(path, "") for path in sorted(used[text])]
        translations.append(entry)


def of_template(source: str) -> Iterator[Text]:
    """Find a template's texts."""
    nodes = Template(source).nodelist
    for node in nodes.get_nodes_by_type(TranslateNode):
        if isinstance(node, TranslateNode) and isinstance(node.filter_expression.var.literal, str):
            yield Text(_with_doubled_signs(node.filter_expression.var.literal), context=_context(node))
    for node in nodes.get_nodes_by_type(BlockTranslateNode):
        if isinstance(node, BlockTranslateNode):
            yield _block_text(node)
    for token in Lexer(source).tokenize():
        if token.token_type in (TokenType.BLOCK, TokenType.VAR):
            yield from (Text(_with_doubled_signs(match["text"])) for match in _HANDED_ON.finditer(token.contents))


def of_python(source: str) -> Iterator[Text]:
    """Find the texts that a module marks; a text that is only known when it runs is marked where it is written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and (mark := _MARKS.get(_name(node.func))):
            context, text, plural = (_constant(node.args, index) for index in mark)
            if text:
                yield Text(text, plural, context)


def of_script(source: str) -> Iterator[Text]:
    """Find the texts that a script says."""
    return (Text(json.loads(f'"{match["text"]}"')) for match in _IN_SCRIPT.finditer(source))


def of_catalog(document: Any) -> Iterator[Text]:
    """Find what the catalog says to people."""
    for section in ("flags", "limits"):
        yield from map(Text, document[section].values())
    for section in ("parameters", "metrics", "kinds"):
        for entry in document[section].values():
            yield from (Text(entry[key]) for key in _OF_THE_CATALOG if entry.get(key))
    for kind in document["kinds"].values():
        yield from (Text(chart["title"]) for chart in kind["charts"])
        yield from map(Text, kind.get("metric_labels", {}).values())


def _all() -> Iterator[tuple[Text, Path]]:
    for path in sorted(PACKAGE.rglob("*.html")):
        yield from ((text, path) for text in of_template(path.read_text(encoding="utf-8")))
    for path in sorted(PACKAGE.rglob("*.py")):
        yield from ((text, path) for text in of_python(path.read_text(encoding="utf-8")))
    for path in sorted(SCRIPTS.rglob("*.ts")):
        yield from ((text, path) for text in of_script(path.read_text(encoding="utf-8")))
    yield from ((Text(text), REASONS / "__init__.py") for text in MESSAGES.values())
    document = json.loads(CATALOG_FILE.read_text(encoding="utf-8"))
    yield from ((text, CATALOG_FILE) for text in of_catalog(document))


def _block_text(node: BlockTranslateNode) -> Text:
    singular, _ = node.render_token_list(node.singular)
    plural, _ = node.render_token_list(node.plural) if node.plural else ("", None)
    if node.trimmed:
        singular, plural = (re.sub(r"\s*\n\s*", " ", text.strip()) for text in (singular, plural))
    return Text(singular, plural, _context(node))


def _with_doubled_signs(text: str) -> str:
    """Return the text as Django's templates look it up: a per cent sign is written twice."""
    return text.replace("%", "%%")


def _context(node: TranslateNode | BlockTranslateNode) -> str:
    return str(node.message_context.var) if node.message_context else ""


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _constant(arguments: list[ast.expr], index: int | None) -> str:
    if index is None or index >= len(arguments):
        return ""
    node = arguments[index]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
