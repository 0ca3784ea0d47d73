"""Template tag for a row of a matrix's cells: written here in one piece, for a page may have hundreds."""

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import NamedTuple

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.charts.sparkline import sparkline
from benchweb.common.formatting import Quantity
from benchweb.web.matrix.cells import DisplayedCell
from benchweb.web.tags.escaping import escaped
from benchweb.web.tags.sparklines import drawn_parts

register = template.Library()

_WIDTH, _HEIGHT = 56, 16


@register.simple_tag
def matrix_cells(cells: Iterable[DisplayedCell]) -> SafeString:
    """Write cells: each a number with n, spread, change and course, or a word for why there is none."""
    texts = _texts(get_language())
    # Every text in them is escaped where it is put in.
    return mark_safe("".join([_cell(cell, texts) for cell in cells]))  # noqa: S308


class _Texts(NamedTuple):
    """What cells say in a language, escaped."""

    mean: str
    baseline: str
    as_baseline: str
    make_baseline: str
    alert: str
    missed: str


@cache
def _texts(_language: str | None) -> _Texts:
    """Keep the texts of a language: a matrix has hundreds of cells, and each would look up three of them."""
    return _Texts(
        *map(escape, (_("mean"), _("baseline"), _("as baseline"), _("as baseline: this cell"), _("alert"), _("missed")))
    )


def _cell(cell: DisplayedCell, texts: _Texts) -> str:
    inside = _number(cell, texts) if cell.figure else _state(cell) if cell.word_href else _nothing(cell)
    base = (" is-base" if cell.is_base else "") + (" is-missed" if cell.is_missed else "")
    return f'<td class="cell {cell.css}{base}">{inside}</td>'


def _number(cell: DisplayedCell, texts: _Texts) -> str:
    assert cell.figure  # noqa: S101
    parts = [_link(cell.href, cell.title, "quantity", _quantity(cell.figure))]
    if cell.mean:
        parts.append(f'<span class="small ">{texts.mean} {escape(cell.mean.number)}</span>')
    parts.append(_small(cell.meta))
    if cell.change:
        parts.append(_small(cell.change, cell.change_css, cell.change_title))
    if cell.target:
        parts.append(_small(" ".join(filter(None, [cell.target, texts.missed if cell.is_missed else ""]))))
    if cell.alert_href:
        parts.append(_link(cell.alert_href, "", "small", texts.alert))
    parts += [_small(cell.note) if cell.note else "", _course(cell.history)]
    if cell.is_base:
        parts.append(f'<span class="base">{texts.baseline}</span>')
    elif cell.base_href:
        link = f'href="{escape(cell.base_href)}" aria-label="{texts.make_baseline}"'
        parts.append(f'<a class="base" {link}>{texts.as_baseline}</a>')
    return "".join(parts)


def _state(cell: DisplayedCell) -> str:
    before = f'<a class="small" href="{escape(cell.href)}">{escape(cell.note)}</a>' if cell.note else ""
    word = _link(cell.word_href, cell.title, f"state {cell.word_css}", escape(cell.word))
    return word + before + _course(cell.history)


def _nothing(cell: DisplayedCell) -> str:
    title = escape(cell.title)
    if cell.href:
        content = f'{escape(cell.word)}<span class="visually-hidden"> {title}</span>'
        return _link(cell.href, cell.title, "missing", content)
    word = f'<span title="{title}" aria-hidden="true">{escape(cell.word)}</span>'
    return f'{word}<span class="visually-hidden">{title}</span>'


def _link(href: str, title: str, css: str, inside: str) -> str:
    return f'<a class="{css}" href="{escape(href)}" title="{escape(title)}">{inside}</a>'


def _quantity(figure: Quantity) -> str:
    return f'{escape(figure.number)}<span class="unit"> {escaped(figure.unit)}</span>'


def _small(text: str, css: str = "", title: str = "") -> str:
    attribute = f' title="{escape(title)}"' if title else ""
    return f'<span class="small {css}"{attribute}>{escape(text)}</span>'


def _course(values: Sequence[float | None]) -> str:
    """Draw the last runs; what they were is told by the history that the cell links to."""
    if not values:
        return ""
    parts = drawn_parts(sparkline(values, width=_WIDTH, height=_HEIGHT))
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg class="sparkline" {size} aria-hidden="true">{"".join(parts)}</svg>'
