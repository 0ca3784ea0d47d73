"""Django's i18n tags; what `translate` says of a text in the template itself is looked up once a language.

Settings give it the name `i18n`, so that templates load it without knowing. A list of 50 rows has 500 such labels,
and Django resolves, escapes and translates each of them anew: a sixth of the page's time.
"""

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.templatetags import i18n
from django.templatetags.i18n import TranslateNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language

_LANGUAGE = "language of this template"
register = template.Library()
register.tags |= i18n.register.tags
register.filters |= i18n.register.filters


class ConstantText(TranslateNode):
    """A text of the template, in the languages in which it was shown."""

    def __init__(self, node: TranslateNode) -> None:
        super().__init__(node.filter_expression, node.noop, message_context=node.message_context)
        self._said: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        """Say it in the reader's language."""
        # The innermost scope is that of one template, and none of ours says a part of itself in another language.
        scope = context.render_context.dicts[-1]
        language = scope.get(_LANGUAGE)
        if language is None:
            language = scope[_LANGUAGE] = get_language()
        said = self._said.get(language)
        if said is None:
            said = self._said[language] = SafeString(super().render(context))
        return said


@register.tag("translate")
@register.tag("trans")
def translate(parser: Parser, token: Token) -> template.Node:
    """Parse as Django does; only what no context can change is kept."""
    node = i18n.do_translate(parser, token)
    return ConstantText(node) if _is_constant(node) else node


def _is_constant(node: TranslateNode) -> bool:
    text, meaning = node.filter_expression, node.message_context
    is_meaning_constant = meaning is None or isinstance(meaning.var, str)
    return text.var.literal is not None and not text.filters and is_meaning_constant and node.asvar is None
