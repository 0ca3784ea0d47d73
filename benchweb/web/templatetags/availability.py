"""Template tags for availability: a strip has a hundred cells, so they are written here in one piece."""

from collections.abc import Sequence
from html import escape

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from benchweb.phrasebook import said
from benchweb.web.availability import Cell, StripCell

register = template.Library()


@register.simple_tag
def strip_cells(cells: Sequence[StripCell]) -> SafeString:
    """Write the cells of a strip, each with the states that it was in by their shares."""
    # The one text in it is escaped; states and shares are our own.
    return mark_safe("".join(_cell(cell) for cell in cells))  # noqa: S308


@register.simple_tag
def indicator(cell: Cell) -> SafeString:
    """Show an indicator's figure and what it rests on, or why it is missing."""
    if cell.figure is None:
        return format_html('<span class="missing" title="{}">—</span>', said(cell.reason))
    number, unit, full = map(escape, cell.figure)
    basis = f' <span class="meta">{escape(cell.basis)}</span>' if cell.basis else ""
    words = f'<span class="quantity" title="{full}">{number}<span class="unit"> {unit}</span></span>{basis}'
    return mark_safe(words)  # noqa: S308  (all of it is escaped)


def _cell(cell: StripCell) -> str:
    parts = [
        f'<span class="strip-part availability-{part.state}" style="flex-grow:{part.share}"></span>'
        for part in cell.parts
    ]
    return f'<span class="strip-cell" title="{escape(cell.title)}">{"".join(parts)}</span>'
