"""Template tag for the cells of a comparison: written here in one piece, for a page has hundreds."""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from benchweb.web.compare_view import ShownEntry
from benchweb.web.compare_words import Words
from benchweb.web.templatetags.show import metric, setting

register = template.Library()


@register.simple_tag
def compare_cells(entries: Iterable[ShownEntry], unit: str) -> SafeString:
    """Write the runs' figures of a measure: what is missing, what was set otherwise, and how each differs."""
    # Every text in them is escaped where it is put in.
    return mark_safe("".join([_cell(shown, unit) for shown in entries]))  # noqa: S308


def _cell(shown: ShownEntry, unit: str) -> str:
    number = metric(shown.median, unit, spread=shown.spread_ratio, n=len(shown.entry.values), reason=shown.missing)
    parts = [str(number), _why(shown.missing)]
    for each in shown.entry.set_otherwise:
        parts.append(_why(f"{each.label}: {setting(each.label, each.value, each.unit)}"))
    tone = ""
    if shown.words:
        tone = f" tone-{shown.words.tone or 'none'}"
        parts.append(_difference(shown.words))
    return f'<td class="num{tone}" data-label="{escape(shown.label)}">{"".join(parts)}</td>'


def _difference(words: Words) -> str:
    change = " ".join(filter(None, (words.change, words.tone_words)))
    arrow = f'<span aria-hidden="true">{words.arrow}</span>'
    found = f'<br><span class="change" title="{escape(words.full)}">{arrow} {escape(change)}</span>'
    if words.interval:
        effect = f' <span class="effect">{escape(words.effect)}</span>' if words.effect else ""
        found += f' <span class="meta">({escape(words.interval)}){effect}</span>'
    return found + _why(words.verdict, words.verdict_full)


def _why(text: str, full: str = "") -> str:
    title = f' title="{escape(full)}"' if full else ""
    return f'<br><span class="why"{title}>{escape(text)}</span>' if text else ""
