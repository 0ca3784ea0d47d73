"""Django's i18n tags; what they say of a text in the template itself is looked up once a language.

Settings give it the name `i18n`, so that templates load it without knowing. A list of 50 rows has 500 such labels,
and Django resolves, escapes and translates each of them anew: a sixth of the page's time. A sentence with places it
even puts together anew, each time that it is shown.
"""

from html import escape
from typing import Any

from django import template
from django.template.base import Parser, Token, render_value_in_context
from django.template.context import Context
from django.templatetags import i18n
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext

from benchweb import phrasebook

_LANGUAGE = "language of this template"
# Of a sentence that counts, the forms that are kept: those of small numbers.
_KEPT_COUNTS = range(100)
register = template.Library()
register.tags |= i18n.register.tags
register.filters |= i18n.register.filters


def written(value: Any, context: Context) -> str:
    """Write a value as Django does: what is common, a text or a whole number, without its detours."""
    kind = type(value)
    if kind is SafeString:
        return str(value)
    if kind is str and context.autoescape:
        return escape(value)
    if kind is int and context.use_l10n is False:
        return str(value)
    return str(render_value_in_context(value, context))


class ConstantText(TranslateNode):
    """A text of the template, in the languages in which it was shown."""

    def __init__(self, node: TranslateNode) -> None:
        super().__init__(node.filter_expression, node.noop, message_context=node.message_context)
        self._said: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        """Say it in the reader's language."""
        language = language_of(context)
        said = self._said.get(language)
        if said is None:
            said = self._said[language] = SafeString(super().render(context))
        return said


class ConstantSentence(BlockTranslateNode):
    """A sentence of the template with places, in the languages in which it was shown; what fills it in is its own."""

    def __init__(self, node: BlockTranslateNode) -> None:
        super().__init__(**{name: getattr(node, name) for name in _BLOCK_PARTS})
        self._text, names = self.render_token_list(self.singular)
        self._texts, more = self.render_token_list(self.plural) if self.plural else ("", [])
        self._names = set(names) | set(more)
        self._forms: dict[tuple[str | None, int | None], str] = {}

    def render(self, context: Context, nested: bool = False) -> SafeString | str:
        """Say it in the reader's language; what is uncommon goes Django's way."""
        count = self.counter.resolve(context) if self.counter else None
        if nested or (count is not None and not isinstance(count, int)):
            return super().render(context, nested=nested)
        try:
            said = SafeString(self._form(language_of(context), count) % self._values(context, count))
        except (KeyError, ValueError):
            return super().render(context)
        if not self.asvar:
            return said
        context[self.asvar] = said
        return ""

    def _form(self, language: str | None, count: int | None) -> str:
        form = self._forms.get((language, count))
        if form is None:
            form = gettext(self._text) if count is None else ngettext(self._text, self._texts, count)
            if count is None or count in _KEPT_COUNTS:
                self._forms[language, count] = form
        return form

    def _values(self, context: Context, count: int | None) -> dict[str, Any]:
        """Give what fills the places; KeyError for a name that nobody gave."""
        values: dict[str, Any] = {}
        for name in self._names:
            if name in self.extra_context:
                value = self.extra_context[name].resolve(context)
            else:
                value = count if name == self.countervar else context[name]
            values[name] = written(value, context)
        return values


_BLOCK_PARTS = (
    *("extra_context", "singular", "plural", "countervar", "counter"),
    *("message_context", "trimmed", "asvar", "tag_name"),
)


def language_of(context: Context) -> str | None:
    """Give the reader's language, asked for once a template."""
    # The innermost scope is that of one template, and none of ours says a part of itself in another language.
    scope = context.render_context.dicts[-1]
    language: str | None = scope.get(_LANGUAGE)
    if language is None:
        language = scope[_LANGUAGE] = get_language()
    return language


@register.tag("translate")
@register.tag("trans")
def translate(parser: Parser, token: Token) -> template.Node:
    """Parse as Django does; only what no context can change is kept."""
    node = i18n.do_translate(parser, token)
    return ConstantText(node) if _is_constant(node) else node


@register.tag("blocktranslate")
@register.tag("blocktrans")
def blocktranslate(parser: Parser, token: Token) -> template.Node:
    """Parse as Django does; a sentence with a meaning of its own goes Django's way, there are few."""
    node = i18n.do_block_translate(parser, token)
    return node if node.message_context else ConstantSentence(node)


@register.simple_tag
def sentence_gap() -> str:
    """Show what stands between two whole sentences in the reader's language."""
    return phrasebook.sentence_gap()


def _is_constant(node: TranslateNode) -> bool:
    text, meaning = node.filter_expression, node.message_context
    is_meaning_constant = meaning is None or isinstance(meaning.var, str)
    return text.var.literal is not None and not text.filters and is_meaning_constant and node.asvar is None
