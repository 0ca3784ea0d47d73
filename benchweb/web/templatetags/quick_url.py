"""Django's `url`; the address of a row's page is made of its name's pattern, which is looked up once.

Settings make it a built-in, so that templates have it without loading. Django matches all patterns of a name anew for
each link, and a list has hundreds.
"""

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as django_url
from django.urls import NoReverseMatch, get_script_prefix
from django.utils.safestring import SafeString

from benchweb.web.row_urls import MOST_IDS, row_form

register = template.Library()
_PREFIX = "prefix of this template's addresses"


class QuickUrl(URLNode):
    """The address of a page by its constant name and the ids in it."""

    def render(self, context: Context) -> str:
        """Give it; what has other arguments than ids goes Django's way."""
        ids = [each.resolve(context) for each in self.args]
        if not all(type(each) is int for each in ids):
            return str(super().render(context))
        try:
            address = row_form(self.view_name.var, len(ids), _prefix(context)).format(*ids)
        except NoReverseMatch:
            return str(super().render(context))
        if self.asvar is None:
            # A name's pattern and digits: nothing in it needs escaping.
            return SafeString(address)
        context[self.asvar] = address
        return ""


def _prefix(context: Context) -> str:
    """Give the path that the application is served under, asked for once a template."""
    scope = context.render_context.dicts[-1]
    prefix: str | None = scope.get(_PREFIX)
    if prefix is None:
        prefix = scope[_PREFIX] = get_script_prefix()
    return prefix


@register.tag
def url(parser: Parser, token: Token) -> template.Node:
    """Parse as Django does."""
    node = django_url(parser, token)
    name = node.view_name
    is_constant = isinstance(name.var, str) and not name.filters
    if not is_constant or node.kwargs or len(node.args) > MOST_IDS:
        return node
    return QuickUrl(name, node.args, node.kwargs, node.asvar)
