"""A metric as a small picture for a README or a wiki: label, value, spread and repetitions."""

from collections.abc import Sequence
from unicodedata import east_asian_width

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.charts.run.verdict import Headline
from benchweb.common import formatting
from benchweb.runs.models import State
from benchweb.web.tags.show import settings_words

# Of the 11 px sans that every viewer has something like; `textLength` makes the text fit exactly.
_CHARACTER_PIXELS = 6.6
# A Chinese character is as wide as the letters are high.
_WIDE_CHARACTER_PIXELS = 11.0
_PADDING_PIXELS = 8
# Ground colours on which white letters keep AA contrast.
_COLORS = {"blue": "#0b5cad", "red": "#c0311d", "grey": "#566370"}


def badge_svg(label: str, value: str, *, color: str, notes: Sequence[str] = ()) -> str:
    """Draw a badge of two parts; notes are told by its title alone."""
    left, right = _width(label), _width(value)
    context = {
        "label": label,
        "value": value,
        "left": left,
        "right": right,
        "width": left + right,
        "label_length": left - 2 * _PADDING_PIXELS,
        "value_length": right - 2 * _PADDING_PIXELS,
        "value_at": left + _PADDING_PIXELS,
        "padding": _PADDING_PIXELS,
        "color": _COLORS[color],
        "notes": notes,
    }
    return render_to_string("runs/partials/badge.svg", context)


def figure_badge(
    figures: Sequence[Headline], metric: str, *, state: str, notes: Sequence[str], is_synthetic: bool = False
) -> HttpResponse:
    """Answer with the badge of a metric where it was best, by its key; of the first figure for no key.

    `notes` are what may have spoiled the run: their number stands in the badge, their words are its title.
    """
    found = next((figure for figure in figures if metric in ("", figure.metric)), None)
    if found is None:
        # A metric that this run didn't measure is missing, not zero.
        # XML has no place for control characters, not even escaped.
        requested = "".join(filter(str.isprintable, metric[:40]))
        svg = badge_svg(requested or "benchweb", f"{formatting.MISSING} {_('not measured')}", color="grey")
        return HttpResponse(svg, content_type="image/svg+xml", status=404)
    label = f"{found.kind_label}{pgettext('before a figure', ': ')}{found.label.lower()}"
    label = f"{_('sample')} · {label}" if is_synthetic else label
    counted = ngettext("%(number)d note", "%(number)d notes", len(notes)) % {"number": len(notes)}
    value = f"{_words(found)} · {counted}" if notes else _words(found)
    svg = badge_svg(label, value, color="blue" if state == State.FINISHED else "red", notes=notes)
    return HttpResponse(svg, content_type="image/svg+xml")


def _words(figure: Headline) -> str:
    spread = formatting.repetitions(figure.value, figure.extremes, figure.unit, figure.n)
    between = " " if spread.startswith("±") else " · "
    value = f"{formatting.quantity(figure.value, figure.unit)}{between}{spread}"
    return " · ".join([value, *settings_words(figure.at)])


def _width(text: str) -> int:
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return round((len(text) - wide) * _CHARACTER_PIXELS + wide * _WIDE_CHARACTER_PIXELS) + 2 * _PADDING_PIXELS
