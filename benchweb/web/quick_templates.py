"""Templates as Django compiles them, with quicker ways to find what they name and to write it.

A page of some lists has thousands of names. For each Django tries `[]`, catches that objects know none, then looks for
an attribute, and escapes strings by way of their translations: half of a page's time. Here objects are asked for
attributes at once. Whatever is uncommon (a missing name, something to be called, another type) goes Django's way,
so that both ways say the same. While templates are debugged, which wants to know each node, nothing is replaced.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from django.template import Template
from django.template.base import (
    VARIABLE_ATTRIBUTE_SEPARATOR,
    FilterExpression,
    Node,
    NodeList,
    TextNode,
    Variable,
    VariableNode,
)
from django.template.context import Context
from django.template.library import SimpleNode
from django.template.loaders import base, cached
from django.template.smartif import TokenBase
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from benchweb.web.templatetags.constant_i18n import ConstantText, language_of, written

# Of these, as of all objects without it, `[]` takes no name.
_TAKE_NO_NAMES = (tuple.__getitem__, list.__getitem__, str.__getitem__, None)


class _Compiling(base.Loader):
    def get_template(self, template_name: str, skip: Any = None) -> Template:
        """Find and compile a template."""
        template = super().get_template(template_name, skip)
        if not self.engine.debug:
            quicken(template.nodelist)
        return template


class Loader(cached.Loader, _Compiling):
    """Keep what was compiled: Django's own, for which templates are compiled as above."""


def quicken(part: object) -> None:
    """Replace names and tags by their quick twins, in nodes, in what these hold, and so on."""
    if isinstance(part, NodeList):
        part[:] = _joined([_quick_twin(node) for node in part])
    if isinstance(part, FilterExpression):
        _quicken_names(part)
    elif isinstance(part, Node | TokenBase):
        quicken(list(vars(part).values()))
    elif isinstance(part, Mapping):
        quicken(list(part.values()))
    elif isinstance(part, list | tuple):
        for each in part:
            quicken(each)


class QuickVariable(Variable):
    """A name, with the attributes of what it names."""

    __slots__ = ("_first", "_rest")

    def __init__(self, variable: Variable) -> None:
        super().__init__(variable.var)
        names = str(variable.var).split(VARIABLE_ATTRIBUTE_SEPARATOR)
        self._first, self._rest = names[0], names[1:]

    def resolve(self, context: Any) -> Any:
        """Give what is named; Django's way where this one finds nothing, or something to be called."""
        for scope in reversed(context.dicts):
            if self._first in scope:
                found = scope[self._first]
                break
        else:
            return super().resolve(context)
        try:
            for name in self._rest:
                found = getattr(found, name) if _BY_ATTRIBUTE[type(found)] else found[name]
        except Exception:  # Whatever it is, Django meets it again and says it.
            return super().resolve(context)
        return super().resolve(context) if callable(found) else found


class QuickVariableNode(VariableNode):
    """A name whose value is shown."""

    def render(self, context: Context) -> str:
        """Write it escaped, where it is a plain string; the rest as Django does."""
        return written(self.filter_expression.resolve(context), context)

    render_annotated = render


class ConstantPart(Node):
    """Markup and texts of a template that stand side by side, in the languages in which they were shown."""

    child_nodelists = ()

    def __init__(self, parts: Sequence[Node]) -> None:
        self._parts = parts
        self._said: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        """Say them in the reader's language."""
        language = language_of(context)
        said = self._said.get(language)
        if said is None:
            said = self._said[language] = SafeString("".join([part.render(context) for part in self._parts]))
        return said

    render_annotated = render


class QuickTag(SimpleNode):
    """A tag that is a function of ours."""

    def render(self, context: Context) -> str:
        """Call it, and write or keep what it gives."""
        given = [each.resolve(context) for each in self.args]
        named = {name: each.resolve(context) for name, each in self.kwargs.items()} if self.kwargs else {}
        shown = self.func(context, *given, **named) if self.takes_context else self.func(*given, **named)
        if self.target_var is not None:
            context[self.target_var] = shown
            return ""
        if type(shown) is str and context.autoescape:
            return escape(shown)
        return shown if type(shown) is SafeString or not context.autoescape else conditional_escape(shown)

    render_annotated = render


def _quick_twin(node: Node) -> Node:
    twin: Node
    if type(node) is VariableNode:
        twin = QuickVariableNode(node.filter_expression)
    elif type(node) is SimpleNode:
        twin = QuickTag(node.func, node.takes_context, node.args, node.kwargs, node.target_var)
    else:
        return node
    twin.token, twin.origin = node.token, node.origin
    return twin


def _quicken_names(expression: FilterExpression) -> None:
    expression.var = _quick_name(expression.var)
    for _, arguments in expression.filters:
        arguments[:] = [(is_name, _quick_name(argument)) for is_name, argument in arguments]


def _quick_name(found: Any) -> Any:
    """Give the twin of a name; what is no name, as a number or a text, has none."""
    is_name = type(found) is Variable and found.lookups and not found.translate
    return QuickVariable(found) if is_name else found


def _joined(nodes: list[Node]) -> list[Node]:
    """Make one node of neighbours that say the same to all readers of a language."""
    joined: list[Node] = []
    for is_constant, run in groupby(nodes, key=lambda node: type(node) in (TextNode, ConstantText)):
        neighbours = list(run)
        is_worth_it = is_constant and len(neighbours) > 1
        joined += [ConstantPart(neighbours)] if is_worth_it else neighbours
    return joined


class _ByAttribute(dict[type, bool]):
    """Whether objects of a type are asked for attributes alone; a dict is asked for what it holds under a name."""

    def __missing__(self, kind: type) -> bool:
        """Tell; TypeError for what is called or asked in some other way."""
        takes_names = getattr(kind, "__getitem__", None) not in _TAKE_NO_NAMES
        is_called = any("__call__" in vars(each) for each in kind.__mro__)
        if is_called or (takes_names and kind is not dict):
            raise TypeError(kind)
        return self.setdefault(kind, not takes_names)


_BY_ATTRIBUTE = _ByAttribute()
