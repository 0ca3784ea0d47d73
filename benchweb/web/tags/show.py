"""Template tags for what every page shows: numbers, states, names, parameters."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from benchweb import state_words
from benchweb.catalog import Kind, catalog, value_text
from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.equivalents import Equivalent
from benchweb.catalog.translation import reason_text, sentence_space, unknown_words
from benchweb.charts.axes import value_words
from benchweb.charts.run.verdict import Setting
from benchweb.common import formatting
from benchweb.documents.references import Label, joined_label, kind_ref, value_ref
from benchweb.hosts.models import Pair
from benchweb.hosts.pairs import PairNames
from benchweb.web.shared.words import WORDS_FROM_SECONDS, clock_words
from benchweb.web.tags.escaping import escaped

register = template.Library()

_NO_BREAK = "\xa0"
# As the subtitles of charts have it: more would not fit into a cell.
_LONGEST_WHOLE = 32


@register.simple_tag
def sentence_gap() -> str:
    """Return what stands between two whole sentences in the reader's language."""
    return sentence_space()


@register.simple_tag
def metric(
    value: float | None,
    unit: str = "",
    *,
    extremes: tuple[float, float] | None = None,
    n: int | None = None,
    reason: str = "",
) -> SafeString:
    """Show a number with its unit, and where given the spread and count of its repetitions, small."""
    if value is None:
        return format_html(
            '<span class="missing" title="{}">—</span>', reason_text(reason) or _("missing: not measured")
        )
    return SafeString(number_html(value, unit, extremes=extremes, n=n))


def number_html(value: float, unit: str, *, extremes: tuple[float, float] | None = None, n: int | None = None) -> str:
    """Return a number as markup, as `metric` shows it."""
    written = formatting.quantity(value, unit)
    # In one piece, for a comparison has hundreds; the number is digits of our own. A unit may be anybody's.
    unit_html = f'<span class="unit"> {escaped(written.unit)}</span>'
    raw = f'data-value="{value!r}" data-unit="{escaped(unit)}"'
    number = f'<span class="quantity" title="{escape(written.full)}" {raw}>{written.number}{unit_html}</span>'
    if n is None:
        return number
    return f'{number} <span class="meta">{escape(unbroken(formatting.repetitions(value, extremes, unit, n)))}</span>'


@register.simple_tag
def plain(value: float, equivalent: Equivalent) -> SafeString:
    """Show a number, in the equivalent's unit, as those reports print it."""
    number = formatting.plain(value, equivalent.decimals)
    return format_html('<span class="quantity">{}<span class="unit"> {}</span></span>', number, equivalent.unit)


@register.simple_tag
def state(value: str, reason: str = "") -> SafeString:
    """Show a state as a word with a dot; the style sheet knows the colours by the class."""
    return SafeString(state_html(value, reason_text(reason), get_language()))


@lru_cache(maxsize=4_096)
def state_html(value: str, reason: str, _language: str | None) -> str:
    """Return a state as markup; kept, for lists say the same states and reasons again and again."""
    title = escape(reason)
    return f'<span class="state state-{escape(value)}" title="{title}">{escape(state_word(value))}</span>'


@register.filter
def state_word(value: str) -> str:
    """Say a state."""
    return state_words.state_word(value)


@register.filter
def translated(sentence: object) -> str:
    """Say a reason, or a text that is marked for translation as a whole, in the reader's language."""
    return reason_text(sentence) if isinstance(sentence, str) else str(sentence or "")


@register.filter
def engine_text(sentence: str) -> str:
    """Say a sentence of an engine's document in the reader's language."""
    return reason_text(engine_reason(sentence))


@register.simple_tag
def pair_name(pair: Pair) -> SafeString:
    """Show the two ends of a pair, what they are called on their hosts small."""
    names = [_endpoint_name(end.host.name, end.name, end.network_mode) for end in (pair.source, pair.sink)]
    return _pair(*names, is_one_host=pair.is_one_host)


@register.simple_tag
def pair_of_names(names: PairNames) -> SafeString:
    """Show a pair as `pair_name` does, by a row that has its names."""
    return _pair(
        _endpoint_name(names.source_host, names.source_endpoint, names.source_mode),
        _endpoint_name(names.sink_host, names.sink_endpoint, names.sink_mode),
        is_one_host=bool(names.is_one_host),
    )


@register.simple_tag
def pair_in_a_line(names: PairNames) -> SafeString:
    """Show a pair where there is one line for it: without what endpoints are called that have a host's own network."""
    ends = (
        (names.source_host, names.source_endpoint, names.source_mode),
        (names.sink_host, names.sink_endpoint, names.sink_mode),
    )
    shown = [_endpoint_name(host, name or (host if mode == "host" else ""), mode) for host, name, mode in ends]
    return _pair(*shown, is_one_host=bool(names.is_one_host))


def _pair(source: str, sink: str, *, is_one_host: bool) -> SafeString:
    if is_one_host:
        return SafeString(f"<span>{source}</span>")
    arrow = f'<span class="arrow" aria-label="{escape(_("to"))}">→</span>'
    # All of it is escaped.
    return SafeString(f"<span>{source} {arrow} {sink}</span>")


@register.simple_tag
def options(choices: Iterable[tuple[int, str]], chosen: str) -> SafeString:
    """Return ids and names to choose from as a select has them, the chosen one marked.

    An address may ask for an id that isn't there: the page filters by it, so the select must not say "any".
    """
    pairs = [(str(pk), name) for pk, name in choices]
    return _options(pairs, chosen) + _missing_option([pk for pk, _name in pairs], chosen)


@register.simple_tag
def option_groups(groups: Iterable[tuple[str, Sequence[tuple[str, str]]]], chosen: str) -> SafeString:
    """Return values to choose from under their headings, as `options` does."""
    written = [(escape(heading), offered) for heading, offered in groups]
    html = "".join(
        f'<optgroup label="{heading}">{_options(offered, chosen)}</optgroup>' for heading, offered in written
    )
    return SafeString(html) + _missing_option(
        [value for _heading, offered in written for value, _name in offered], chosen
    )


def _options(pairs: Iterable[tuple[str, str]], chosen: str) -> SafeString:
    # Names and ids are escaped.
    return SafeString("".join(_option(pk, name, is_chosen=pk == chosen) for pk, name in pairs))


def _missing_option(known: Sequence[str], chosen: str) -> SafeString:
    missing = [(chosen, _("{id} (doesn't exist)").format(id=chosen))] if chosen and chosen not in known else []
    return _options(missing, chosen)


@register.simple_tag
def half(value: float | None) -> float | None:
    """Return half of a value: a clock's offset is as uncertain as half of the round trip."""
    return None if value is None else value / 2


@register.simple_tag
def clock_offset(seconds: float | None) -> SafeString:
    """Show how far an engine's clock is off; all digits on hover."""
    if seconds is None or abs(seconds) < WORDS_FROM_SECONDS:
        return metric(seconds, "s")
    title = formatting.quantity(seconds, "s").full
    return format_html('<span class="quantity" title="{}">{}</span>', title, clock_words(seconds))


@register.filter
def grouped(value: float) -> str:
    """Write a number with commas between its thousands, as every figure of the pages has them."""
    return f"{round(value, 1):,}".removesuffix(".0")


@register.simple_tag
def over(value: float, bound: float) -> str:
    """Say how much more than a bound something is: 1.03 ×."""
    return f"{value / bound:.2f} ×" if bound else formatting.MISSING


@register.filter
def kind_label(name: str) -> str:
    """Return a kind's label; its bare name when an older run used a kind that has left the catalog."""
    kind = catalog().kinds.get(name)
    return kind.label if kind else kind_ref(name)


@register.filter
def with_units(cells: Sequence[Any], columns: Sequence[tuple[str, str]]) -> list[tuple[Any, str]]:
    """Pair a row's cells with their columns' units."""
    return [(value, unit) for value, (_, unit) in zip(cells, columns, strict=True)]


@register.simple_tag
def params(kind_name: str, values: Mapping[str, Any]) -> SafeString:
    """Show a test's parameters as the catalog labels them, with the defaults that no figure is told without."""
    kind = catalog().kinds.get(kind_name)
    return params_given(kind_name, {**kind.stated_defaults, **values} if kind else values)


@register.simple_tag
def params_given(kind_name: str, values: Mapping[str, Any]) -> SafeString:
    """Show these parameters alone, as the catalog labels them."""
    return SafeString(f'<span class="params">{unbroken(escape(params_text(kind_name, values)))}</span>')


def unbroken(parts: str) -> str:
    """Have what is said in parts broken between them only, so that no number loses its unit; a long one within too."""
    return " · ".join(
        [part.replace(" ", _NO_BREAK) if len(part) <= _LONGEST_WHOLE else part for part in parts.split(" · ")]
    )


def params_text(kind_name: str, values: Mapping[str, Any]) -> Label:
    """Say parameters as the catalog labels them, in its order."""
    return _params_text(kind_name, json.dumps(values), get_language())


@lru_cache(maxsize=4_096)
def _params_text(kind_name: str, written: str, _language: str | None) -> Label:
    """Keep what was said: repetitions, and one page after the other, show the same parameters again and again."""
    kind, values = catalog().kinds.get(kind_name), json.loads(written)
    texts = [_param(kind, name, values[name]) for name in _ordered_names(kind, values)]
    return joined_label(texts) if texts else Label(_("defaults"))


@register.simple_tag
def settings(values: Sequence[Setting]) -> str:
    """Show what a figure was measured at, in a row."""
    return pgettext("between items of a list", ", ").join(settings_words(values))


def settings_words(values: Sequence[Setting]) -> list[str]:
    """Say parameters' values: the number with its unit alone where no other has that unit, else behind its label.

    A rate is always told as the limit that it is: it stands beside what was measured, in the same unit.
    """
    units = Counter(setting.unit for setting in values)
    return [
        _setting_text(setting, is_only=units[setting.unit] == 1 and not setting.unit.endswith("/s"))
        for setting in values
    ]


def _setting_text(setting: Setting, *, is_only: bool) -> str:
    value = setting.value
    if value is None:
        return f"{setting.label.lower()} {unknown_words()}"
    if setting.unit and isinstance(value, int | float) and not isinstance(value, bool):
        text = formatting.setting(value, setting.unit)
        return text if is_only else f"{setting.label.lower()} {text}"
    return Label(setting.label.lower(), " ", value_text(value) if isinstance(value, str) else str(value))


def _option(pk: str, name: str, *, is_chosen: bool) -> str:
    return f'<option value="{escape(pk)}"{" selected" if is_chosen else ""}>{escape(name)}</option>'


def _endpoint_name(host: str, name: str, network_mode: str) -> str:
    """Return an endpoint's name as markup, escaped."""
    if name == host:
        return escape(host)
    return f'{escape(host)} <span class="meta">({escape(name or network_mode)})</span>'


def _param(kind: Kind | None, name: str, value: Any) -> Label:
    parameter = kind.parameters.get(name) if kind else None
    if parameter is None:
        return Label(value_ref(name), " ", value_ref(str(value)))
    values = value if isinstance(value, list) else [value]
    words = joined_label([value_words(parameter, single) for single in values], ", ")
    return Label(parameter.label.lower(), " ", words)


def _ordered_names(kind: Kind | None, values: Mapping[str, Any]) -> list[str]:
    known = [name for name in kind.parameters if name in values] if kind else []
    return known + [name for name in values if name not in known]
