"""Carry a document to the scripts of a page that htmx swaps: it takes script elements out, whatever their type."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
# As Django's json_script does: inside a string of JSON these say the same.
_ESCAPES = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}


@register.simple_tag
def carried(value: Any, element_id: str) -> SafeString:
    """Give a hidden element whose text is the document."""
    text = json.dumps(value, separators=(",", ":")).translate(_ESCAPES)
    return format_html('<div id="{}" hidden>{}</div>', element_id, mark_safe(text))  # noqa: S308  (escaped above)
