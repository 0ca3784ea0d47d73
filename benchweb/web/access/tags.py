"""Template tags for what leads to a page of a row: it is left out for who may not do that."""

from typing import Any

from django import template
from django.db.models import Model
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context

from benchweb.web.access.context import Can

register = template.Library()


class _Permitted(template.Node):
    def __init__(self, name: str, arguments: list[FilterExpression], nodelist: NodeList) -> None:
        self.name = name
        self.arguments = arguments
        # By this name Django finds what is in it, the texts to be translated too.
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        """Return the content for whom the page's needs let post."""
        may = context["can"].send(self.name, *(argument.resolve(context) for argument in self.arguments))
        return self.nodelist.render(context) if may else ""


@register.tag
def permitted(parser: Parser, token: Token) -> template.Node:
    """Show what stands in between only to who may post to the page `{% permitted run_cancel run.pk %}`."""
    _tag, name, *arguments = token.split_contents()
    nodelist = parser.parse(("endpermitted",))
    parser.delete_first_token()
    return _Permitted(name, [parser.compile_filter(argument) for argument in arguments], nodelist)


@register.filter
def leads(can: Can, address: str) -> bool:
    """Tell whether the reader may open an address of the dashboard: `can|leads:url`."""
    return can.leads(address)


@register.inclusion_tag("shared/partials/change_log.html", takes_context=True)
def change_log(context: Context, row: Model) -> dict[str, Any]:
    """Lead to what the audit log has of a row."""
    return {"may": context["can"].open("audit"), "table": row._meta.db_table, "id": row.pk}
