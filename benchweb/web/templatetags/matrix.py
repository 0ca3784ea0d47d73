"""Template tag for a matrix's cell: written here in one piece, for a page may have hundreds."""

from collections.abc import Sequence
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from benchweb.charts.sparkline import sparkline
from benchweb.formatting import Quantity
from benchweb.web.matrix_cells import ShownCell
from benchweb.web.templatetags.sparklines import drawn_parts

register = template.Library()

_WIDTH, _HEIGHT = 56, 16


@register.simple_tag
def matrix_cell(cell: ShownCell) -> SafeString:
    """Write a cell: a number with n, spread, change and course, or a word for why there is none."""
    inside = _number(cell) if cell.shown else _state(cell) if cell.word_href else _nothing(cell)
    base = " is-base" if cell.is_base else ""
    # Every text in it is escaped where it is put in.
    return mark_safe(f'<td class="cell {cell.css}{base}">{inside}</td>')  # noqa: S308


def _number(cell: ShownCell) -> str:
    assert cell.shown  # noqa: S101
    parts = [_link(cell.href, cell.title, "quantity", _quantity(cell.shown))]
    if cell.mean:
        parts.append(_small(f"{_('mean')} {cell.mean.number}"))
    parts.append(_small(cell.meta))
    if cell.change:
        parts.append(_small(cell.change, cell.change_css, cell.change_title))
    parts += [_small(cell.note) if cell.note else "", _course(cell.history)]
    word = escape(_("baseline"))
    if cell.is_base:
        parts.append(f'<span class="base">{word}</span>')
    else:
        label = escape(_("baseline: this cell"))
        parts.append(f'<a class="base" href="{escape(cell.base_href)}" aria-label="{label}">{word}</a>')
    return "".join(parts)


def _state(cell: ShownCell) -> str:
    before = f'<a class="small" href="{escape(cell.href)}">{escape(cell.note)}</a>' if cell.note else ""
    word = _link(cell.word_href, cell.title, f"state {cell.word_css}", escape(cell.word))
    return word + before + _course(cell.history)


def _nothing(cell: ShownCell) -> str:
    title = escape(cell.title)
    if cell.href:
        said = f'{escape(cell.word)}<span class="visually-hidden"> {title}</span>'
        return _link(cell.href, cell.title, "missing", said)
    shown = f'<span title="{title}" aria-hidden="true">{escape(cell.word)}</span>'
    return f'{shown}<span class="visually-hidden">{title}</span>'


def _link(href: str, title: str, css: str, inside: str) -> str:
    return f'<a class="{css}" href="{escape(href)}" title="{escape(title)}">{inside}</a>'


def _quantity(shown: Quantity) -> str:
    return f'{escape(shown.number)}<span class="unit"> {escape(shown.unit)}</span>'


def _small(text: str, css: str = "", title: str = "") -> str:
    told = f' title="{escape(title)}"' if title else ""
    return f'<span class="small {css}"{told}>{escape(text)}</span>'


def _course(values: Sequence[float | None]) -> str:
    """Draw the last runs; what they were is told by the history that the cell links to."""
    if not values:
        return ""
    parts = drawn_parts(sparkline(values, width=_WIDTH, height=_HEIGHT))
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg class="sparkline" {size} aria-hidden="true">{"".join(parts)}</svg>'
