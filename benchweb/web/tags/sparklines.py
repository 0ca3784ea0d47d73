"""Template tags for small multiples: a line of values as SVG, and a change in an arrow, a sign and a percentage."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from html import escape
from typing import NamedTuple

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from benchweb.catalog import Metric
from benchweb.charts.sparkline import Sparkline
from benchweb.charts.sparkline import sparkline as shape_of
from benchweb.common import formatting
from benchweb.statistics import Deviation
from benchweb.statistics.deciding import LEAST_NIGHTS_BEFORE

register = template.Library()

_WIDTH, _HEIGHT = 120, 24


@register.simple_tag
def sparkline(
    values: Sequence[float | None],
    unit: str = "",
    *,
    baseline: float | None = None,
    bounds: tuple[float, float] | None = None,
    width: int = _WIDTH,
    height: int = _HEIGHT,
    label: str = "",
    before: int = 0,
    mark: int | None = None,
) -> SafeString:
    """Draw values from left to right, the latest marked; None is a gap. The figures are told in its label.

    The first `before` are none of them, as `benchweb.charts.sparkline` has it. `mark` is the place of one to be ringed.
    """
    text = ": ".join(filter(None, [label, figures_text(values[before:], unit, get_language())]))
    return SafeString(
        line_drawn(values, text, baseline=baseline, bounds=bounds, width=width, height=height, before=before, mark=mark)
    )


def line_drawn(
    values: Sequence[float | None],
    text: str,
    *,
    baseline: float | None = None,
    bounds: tuple[float, float] | None = None,
    width: int = _WIDTH,
    height: int = _HEIGHT,
    before: int = 0,
    mark: int | None = None,
) -> str:
    """Return the line as markup, with what is told of it to those who don't see it."""
    shape = shape_of(values, width=width, height=height, baseline=baseline, bounds=bounds, before=before, mark=mark)
    text = escape(text)
    # The coordinates are our own numbers: nothing in them needs escaping, and a matrix has thousands.
    parts = drawn_parts(shape)
    if shape.baseline_y is not None:
        y = shape.baseline_y
        parts.insert(0, f'<line class="sparkline-baseline" x1="0" x2="{width}" y1="{y}" y2="{y}"/>')
    return (
        f'<svg class="sparkline" role="img" aria-label="{text}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{text}</title>{"".join(parts)}</svg>'
    )


def drawn_parts(shape: Sparkline) -> list[str]:
    """Draw lines, values that stand alone, the last value, and gaps as dots on the ground."""
    parts = [f'<polyline points="{_points(line)}"/>' for line in shape.lines]
    parts += [f'<circle class="sparkline-alone" cx="{x}" cy="{y}" r="1.6"/>' for x, y in shape.isolated]
    ground = shape.ground_y
    if shape.gaps:
        # A line without a length has round ends: a dot each.
        parts.append(f'<path class="sparkline-gap" d="{"".join(f"M{x} {ground}h0" for x in shape.gaps)}"/>')
    if shape.last is not None:
        parts.append(f'<circle class="sparkline-last" cx="{shape.last[0]}" cy="{shape.last[1]}" r="2"/>')
    if shape.marked is not None:
        parts.append(f'<circle class="sparkline-mark" cx="{shape.marked[0]}" cy="{shape.marked[1]}" r="3.5"/>')
    return parts


@register.simple_tag
def night_deviation(deviation: Deviation | None, metric: Metric) -> SafeString:
    """Show how an environment's latest night lies beside those before it, or why nothing is said of that."""
    words = _change_words(get_language())
    return SafeString(_deviation(deviation, metric, words, first=words.first_night, learning=words.learning_nights))


@register.simple_tag
def run_deviation(deviation: Deviation | None, metric: Metric) -> SafeString:
    """Show how a series' latest run lies beside those before it, or why nothing is said of that."""
    words = _change_words(get_language())
    return SafeString(_deviation(deviation, metric, words, first=words.first, learning=words.learning))


def _deviation(deviation: Deviation | None, metric: Metric, words: "_ChangeWords", *, first: str, learning: str) -> str:
    if deviation is None:
        return f'<span class="change change-none">{first}</span>'
    if deviation.is_learning:
        learning %= {"count": deviation.n_before, "least": LEAST_NIGHTS_BEFORE}
        return f'<span class="change change-none">{learning}</span>'
    is_significant = deviation.is_significant
    if deviation.ratio is not None or not is_significant:
        ratio = deviation.ratio or 0.0
        size = change_size(ratio, ratio * abs(deviation.baseline), metric.unit)
        return _change_badge(ratio, size, metric.better, is_significant=is_significant, words=words)
    # Of nothing there is no percentage.
    rises = (deviation.score or 0.0) > 0
    judged = _change_verdict(1.0 if rises else -1.0, metric.better)
    return f'<span class="change change-{judged}">{"▲" if rises else "▼"} {words.from_nothing}</span>'


def change_size(ratio: float, absolute: float, unit: str) -> str:
    """Say a change in per cent; of a share, whose per cent would be taken for points, in percentage points."""
    if unit != "ratio":
        return formatting.signed_percent(ratio)
    return _("%(number)s points") % {"number": formatting.signed_hundredths(absolute)}


class _ChangeWords(NamedTuple):
    """The words for changes in one language, escaped; digits of our own fill them in."""

    within: str
    none: str
    first: str
    learning: str
    first_night: str
    learning_nights: str
    from_nothing: str


@cache
def _change_words(_language: str | None) -> _ChangeWords:
    texts = (
        _("%(percent)s, within the noise"),
        _("no significant change"),
        _("first result"),
        _("baseline: %(count)d of %(least)d runs"),
        _("first result"),
        _("baseline: %(count)d of %(least)d nights"),
        _("from 0"),
    )
    return _ChangeWords._make(map(escape, texts))


def _change_badge(ratio: float, size: str, better: str, *, is_significant: bool, words: _ChangeWords) -> str:
    if not is_significant:
        return f'<span class="change change-none" title="{words.within % {"percent": size}}">{words.none}</span>'
    arrow = "▲ " if ratio > 0 else "▼ " if ratio < 0 else ""
    return f'<span class="change change-{_change_verdict(ratio, better)}">{arrow}{size}</span>'


def _change_verdict(ratio: float, better: str) -> str:
    if better not in ("higher", "lower") or ratio == 0:
        return "neutral"
    return "good" if (ratio > 0) == (better == "higher") else "bad"


def _points(line: Iterable[tuple[float, float]]) -> str:
    return " ".join([f"{x},{y}" for x, y in line])


def figures_text(values: Sequence[float | None], unit: str, language: str | None) -> str:
    """Tell the figures of a line in words."""
    known = [value for value in values if value is not None]
    if not known:
        return _("no values")
    texts = _texts(language, len(known))
    low, high = str(formatting.quantity(min(known), unit)), str(formatting.quantity(max(known), unit))
    parts = [texts.number, low if low == high else texts.span % {"low": low, "high": high}]
    last = values[-1]
    parts.append(texts.no_last if last is None else texts.last % {"value": formatting.quantity(last, unit)})
    if missing := len(values) - len(known) - (last is None):
        parts.append(texts.missing % {"count": missing})
    return ", ".join(parts)


class _Texts(NamedTuple):
    """The words for a line's values in one language."""

    number: str
    span: str
    last: str
    no_last: str
    missing: str


@lru_cache(maxsize=1_024)
def _texts(_language: str | None, count: int) -> _Texts:
    """Keep the texts of a language with their count: each line of a table would look up four."""
    return _Texts(
        number=ngettext("%(count)d value", "%(count)d values", count) % {"count": count},
        span=_("%(low)s to %(high)s"),
        last=_("latest %(value)s"),
        no_last=_("latest missing"),
        missing=_("%(count)d missing"),
    )
