"""Template tag for the facts of a host: written here in one piece, for each endpoint's panel has fifty lines."""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import escape

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from benchweb.catalog.translation import reason_text
from benchweb.web.facts.page import FactsGroup
from benchweb.web.tags.escaping import escaped

register = template.Library()
# Between the parts of a name: net.ipv4.tcp_rmem.
_JOINT = re.compile(r"(?<=\w)[._](?=\w)")


@register.simple_tag
def facts_sections(groups: Iterable[FactsGroup]) -> SafeString:
    """Write a section for each group: its title, and its lines as labels with values."""
    language = get_language()
    # Every text in them is escaped where it is put in.
    return SafeString("".join([_section(group, language) for group in groups]))


@register.filter
def breakable(name: str) -> SafeString:
    """Let a long name of the kernel's break where its parts meet, and not within a word."""
    return SafeString(_name_with_breaks(escaped(name)))


def _name_with_breaks(escaped_name: str) -> str:
    return _JOINT.sub(r"\g<0><wbr>", escaped_name)


def _section(group: FactsGroup, language: str | None) -> str:
    # What an engine says is missing has no label: it is a sentence.
    lines = [
        f"<dt>{_name_with_breaks(_translated_text(label, language))}</dt>"
        f"<dd>{escaped(value) if label else _translated_text(value, language)}</dd>"
        for label, value in group.lines
    ]
    return (
        f'<section><h3>{_translated_text(group.title, language)}</h3><dl class="pairs">{"".join(lines)}</dl></section>'
    )


@lru_cache(maxsize=4_096)
def _translated_text(text: str, _language: str | None) -> str:
    """Say a stored text, escaped; kept, for all hosts have the same labels."""
    return escape(reason_text(text))
