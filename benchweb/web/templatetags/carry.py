"""Carry a document to the scripts of a page that htmx swaps: it takes script elements out, whatever their type."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
# As Django's json_script does: inside a string of JSON these say the same.
_ESCAPES = ((b"<", b"\\u003C"), (b">", b"\\u003E"), (b"&", b"\\u0026"))


@register.simple_tag
def carried(document: bytes, element_id: str) -> SafeString:
    """Give a hidden element whose text is the document, which is JSON in UTF-8."""
    for character, escape in _ESCAPES:
        document = document.replace(character, escape)
    return format_html('<div id="{}" hidden>{}</div>', element_id, mark_safe(document.decode()))  # noqa: S308  (escaped above)
