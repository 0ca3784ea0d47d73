"""Words of the field that lead to their line in the glossary."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchweb.web.shared.glossary import glossary_meaning

register = template.Library()


@register.simple_tag
def term(key: str, words: str) -> SafeString:
    """Show words as a link to a line of the glossary, whose text is there on hover; KeyError where it has none."""
    address = f"{reverse('web:glossary')}#{key}"
    return format_html('<a class="term" href="{}" title="{}">{}</a>', address, glossary_meaning(key), words)
