"""Carry charts to the scripts of a page; where htmx swaps it, it takes script elements out, whatever their type."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from benchweb.charts.documents import charts_text
from benchweb.charts.spec import ChartSpec

register = template.Library()
# As Django's json_script does: inside a string of JSON these say the same.
_ESCAPES = ((b"<", b"\\u003C"), (b">", b"\\u003E"), (b"&", b"\\u0026"))


@register.simple_tag
def carried(document: bytes, element_id: str) -> SafeString:
    """Give a hidden element whose text is the document, which is JSON in UTF-8."""
    return format_html('<div id="{}" hidden>{}</div>', element_id, _escaped(document))


@register.simple_tag
def charts_json(charts: Sequence[ChartSpec]) -> SafeString:
    """Write charts as JSON, to be read from a script's or another element's text."""
    return _escaped(charts_text(charts))


def _escaped(document: bytes) -> SafeString:
    for character, escape in _ESCAPES:
        document = document.replace(character, escape)
    return mark_safe(document.decode())  # noqa: S308  (escaped above)
