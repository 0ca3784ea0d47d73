"""Template tag for the rows of a comparison: written here in one piece, for a page has hundreds of cells."""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import pgettext

from benchweb.web.compare.page import DisplayedEntry, DisplayedRow
from benchweb.web.compare.words import Words
from benchweb.web.tags.escaping import escaped
from benchweb.web.tags.show import metric, params, settings_words

register = template.Library()


@register.simple_tag
def compare_rows(rows: Iterable[DisplayedRow]) -> SafeString:
    """Write each measure with the runs' figures: what is missing, what was set otherwise, and how each differs."""
    # Every text in them is escaped where it is put in.
    return mark_safe("".join([_row(row) for row in rows]))  # noqa: S308


def _row(row: DisplayedRow) -> str:
    kind, measured = row.measure.kind, row.measure.metric
    settings = params(kind.name, row.measure.params)
    # In a narrow column "connect/request/response" is broken where it is put together.
    kind_label = escaped(kind.label).replace("/", "/<wbr>")
    named = f'{escaped(measured.label)}<br><span class="meta">{kind_label} · {settings}</span>'
    # Of two runs a cell without a difference keeps its place beside those that have one.
    is_of_two = len(row.entries) == 2
    cells = "".join(
        [
            _cell(displayed, measured.unit, keeps_columns=is_of_two and index > 0)
            for index, displayed in enumerate(row.entries)
        ]
    )
    return f'<tr><th scope="row" class="card-title">{named}</th>{cells}</tr>'


def _cell(displayed: DisplayedEntry, unit: str, *, keeps_columns: bool) -> str:
    summary = displayed.entry.summary
    median, extremes = (summary.median, summary.extremes) if summary else (None, None)
    number = metric(median, unit, extremes=extremes, n=len(displayed.entry.values), reason=displayed.missing)
    # Beside the number, and no column of its own.
    others = "".join(
        [
            _why(f"{setting.label}{pgettext('before a figure', ': ')}{settings_words([setting])[0]}")
            for setting in displayed.entry.set_otherwise
        ]
    )
    parts = [f"<span>{number}{others}</span>", _why(displayed.missing)]
    tone = ""
    if displayed.words:
        tone = f" tone-{displayed.words.tone or 'none'}"
        parts.append(_difference(displayed.words))
    elif keeps_columns:
        parts.insert(1, '<span class="difference"></span>')
    cell = f'<div class="compare-cell">{"".join(parts)}</div>'
    return f'<td class="num{tone}" data-label="{escaped(displayed.label)}">{cell}</td>'


def _difference(words: Words) -> str:
    change = " ".join(filter(None, (words.change, words.tone_words)))
    arrow = f'<span aria-hidden="true">{words.arrow}</span>'
    text = f'<span class="change" title="{escape(words.full)}">{arrow} {escape(change)}</span>'
    if words.interval:
        effect = f' <span class="effect">{escaped(words.effect)}</span>' if words.effect else ""
        text += f' <span class="meta"><span class="interval">({escape(words.interval)})</span>{effect}</span>'
    return f'<span class="difference">{text}</span>{_why(words.verdict, words.verdict_full)}'


def _why(text: str, full: str = "") -> str:
    title = f' title="{escaped(full)}"' if full else ""
    return f'<span class="why"{title}>{escaped(text)}</span>' if text else ""
