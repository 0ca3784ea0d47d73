"""Template tags for availability: a strip has a hundred cells, so they are written here in one piece."""

from collections.abc import Sequence
from html import escape

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchweb.catalog.translation import reason_text
from benchweb.web.hosts.availability.cells import IndicatorCell
from benchweb.web.hosts.availability.strip import StripCell, StripPart

register = template.Library()
# The strip is 32 pixels high; _availability.scss has a class for each.
_SHARES = 32


@register.simple_tag
def strip_cells(cells: Sequence[StripCell]) -> SafeString:
    """Write the cells of a strip, each with the states that it was in by their shares."""
    # The one text in it is escaped; times, states and shares are our own. Most cells say the same.
    texts = {cell[1:] for cell in cells}
    drawn = {(text, parts): (escape(text), _parts(parts)) for text, parts in texts}
    return SafeString("".join([_cell(cell.begin, *drawn[cell[1:]]) for cell in cells]))


@register.filter
def missing_alike(cells: Sequence[tuple[str, IndicatorCell]]) -> str:
    """Return why a whole row has no figure, where the reason is one for all; else nothing."""
    reasons = {cell.reason if cell.figure is None else "" for _head, cell in cells}
    return reasons.pop() if len(reasons) == 1 else ""


@register.simple_tag
def indicator(cell: IndicatorCell) -> SafeString:
    """Show an indicator's figure and what it rests on, or why it is missing."""
    if cell.figure is None:
        return format_html('<span class="missing" title="{}">—</span>', reason_text(cell.reason))
    number, unit, full = map(escape, cell.figure)
    basis = f' <span class="meta">{escape(cell.basis)}</span>' if cell.basis else ""
    looks = "quantity little-known" if cell.is_little_known else "quantity"
    words = f'<span class="{looks}" title="{full}">{number}<span class="unit"> {unit}</span></span>{basis}'
    # All of it is escaped.
    return SafeString(words)


def _cell(begin: str, text: str, parts: str) -> str:
    return f'<span class="strip-cell" title="{begin} UTC: {text}">{parts}</span>'


def _parts(parts: Sequence[StripPart]) -> str:
    return "".join(
        [
            f'<span class="strip-part availability-{part.state} share-{max(1, round(part.share * _SHARES))}"></span>'
            for part in parts
        ]
    )
