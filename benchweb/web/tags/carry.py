"""Carry charts to the scripts of a page."""

from collections.abc import Sequence

from django import template
from django.utils.safestring import SafeString, mark_safe

from benchweb.documents.charts import ChartSpec, charts_text

register = template.Library()
# As Django's json_script does: inside a string of JSON these say the same.
_ESCAPES = ((b"<", b"\\u003C"), (b">", b"\\u003E"), (b"&", b"\\u0026"))


@register.simple_tag
def charts_json(charts: Sequence[ChartSpec]) -> SafeString:
    """Write charts as JSON, to be read from a script's text; where htmx swaps, from a hidden element's.

    htmx takes script elements out of what it swaps, whatever their type.
    """
    document = charts_text(charts)
    for character, escape in _ESCAPES:
        document = document.replace(character, escape)
    return mark_safe(document.decode())  # noqa: S308  (escaped above)
