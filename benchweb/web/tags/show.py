"""Template tags for what every page shows: numbers, states, times, parameters."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from html import escape
from typing import Any

from django import template
from django.utils import timezone
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
from benchweb.charts.run.verdict import Setting, limit_words
from benchweb.common import formatting
from benchweb.hosts.models import Pair
from benchweb.hosts.pairs import PairNames
from benchweb.web.shared.words import WORDS_FROM_SECONDS, clock_words
from benchweb.web.shared.zones import moment_text, reader_zone, zone_named
from benchweb.web.tags.escaping import escaped

register = template.Library()

_DAY_SECONDS = 86_400
_HOUR_FROM_SECONDS = 3_570
_WAITED_SECONDS = 60
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
    # In one piece, for a comparison has hundreds; the number is digits of our own.
    unit_html = f'<span class="unit"> {escaped(written.unit)}</span>'
    raw = f'data-value="{value!r}" data-unit="{escaped(unit)}"'
    number = f'<span class="quantity" title="{escape(written.full)}" {raw}>{written.number}{unit_html}</span>'
    return (
        number
        if n is None
        else f'{number} <span class="meta">{unbroken(formatting.repetitions(value, extremes, unit, n))}</span>'
    )


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
    if chosen and all(pk != chosen for pk, _name in pairs):
        pairs.append((chosen, _("{id} (doesn't exist)").format(id=chosen)))
    # Names and ids are escaped.
    return SafeString("".join(_option(pk, name, is_chosen=pk == chosen) for pk, name in pairs))


@register.simple_tag
def when(value: datetime | None, form: str = "relative") -> SafeString:
    """Show a time: in UTC here, in the reader's zone by frontend/src/text/times.ts."""
    if value is None:
        return format_html('<span class="missing" title="{}">—</span>', _("not yet"))
    return SafeString(time_html(value, form, get_language()))


def time_html(value: datetime, form: str, language: str | None) -> str:
    """Return a time as markup; rows that are written in one piece ask for the language once."""
    utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    exact = _exact(utc)
    to_the_second = f"{exact[:10]} {exact[11:19]}"
    text = _ago(utc, to_the_second, language) if form == "relative" else f"{to_the_second} UTC"
    if form == "minute":
        text = f"{to_the_second[:16]} UTC"
    # Digits of our own beside what is escaped: lists have hundreds of times.
    return f'<time datetime="{exact}" data-form="{escaped(form)}" title="{to_the_second} UTC">{text}</time>'


@register.simple_tag
def lasted(start: datetime | None, end: datetime) -> SafeString:
    """Show from when to when something went, the zone, and how long it took: what never began has its end alone."""
    if start is None:
        return format_html(_("ended {at} without starting"), at=when(end, "absolute"))
    first = start.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-form="begin" title="{} UTC">{}</time>–{} UTC</time>{}{}',
        _exact(first),
        f"{first:%Y-%m-%d %H:%M:%S}",
        f"{first:%Y-%m-%d %H:%M:%S}",
        SafeString(_after(first, end.astimezone(UTC), "end")),
        pgettext("between parts of a sentence", ", "),
        _("took {length}").format(length=between(start, end)),
    )


@register.simple_tag
def began_later(launched: datetime, began: datetime | None) -> SafeString | str:
    """Say when what was launched began where it waited a minute or longer: its launch would be read as the start."""
    if began is None or (began - launched).total_seconds() < _WAITED_SECONDS:
        return ""
    at = SafeString(_after(launched.astimezone(UTC), began.astimezone(UTC), "clock") + "</time>")
    return format_html(' <span class="meta">{}</span>', format_html(_("started {at}"), at=at))


def _after(first: datetime, utc: datetime, form: str) -> str:
    """Begin the markup of a time that follows another: its day only where it is a later one."""
    text = f"{utc:%H:%M:%S}" if first.date() == utc.date() else f"{utc:%Y-%m-%d %H:%M:%S}"
    title = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    return f'<time datetime="{_exact(utc)}" data-form="{form}" data-begin="{_exact(first)}" title="{title}">{text}'


def _exact(utc: datetime) -> str:
    return f"{utc.isoformat('T', 'milliseconds')[:23]}Z"


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


@register.filter
def duration(seconds: float | None) -> str:
    """Say how long something took."""
    return formatting.duration(seconds)


@register.simple_tag
def between(start: datetime | None, end: datetime | None) -> str:
    """Say how long it took from one time to another; while it has no end, how long until now."""
    if start is None:
        return formatting.MISSING
    if end is None:
        return _("{time} so far").format(time=formatting.duration((timezone.now() - start).total_seconds()))
    return formatting.duration((end - start).total_seconds())


@register.simple_tag(takes_context=True)
def zoned(context: Mapping[str, Any], value: datetime | None, zone_name: str = "") -> SafeString:
    """Show a time in a named zone, or in the reader's; UTC on hover."""
    if value is None:
        return format_html('<span class="missing" title="{}">—</span>', _("none"))
    zone = zone_named(zone_name) or reader_zone(context["request"])
    utc = value.astimezone(UTC)
    text = escape(moment_text(value, zone))
    return SafeString(f'<span class="zoned" title="{utc:%Y-%m-%d %H:%M:%S} UTC">{text}</span>')


@register.simple_tag(takes_context=True)
def both_zones(context: Mapping[str, Any], value: datetime, zone_name: str) -> SafeString:
    """Say a time in a schedule's zone and in the reader's; once when both say the same. Neither breaks within."""
    there, here = moment_text(value, zone_named(zone_name) or UTC), moment_text(value, reader_zone(context["request"]))
    whole = format_html('<span class="zoned">{}</span>', there)
    if there == here:
        return format_html("{} {}", whole, zone_name)
    pattern = escape(_("{there} {zone} · {here} here"))
    return format_html(pattern, there=whole, zone=zone_name, here=format_html('<span class="zoned">{}</span>', here))


@register.simple_tag(takes_context=True)
def is_local_zone(context: Mapping[str, Any], zone_name: str) -> bool:
    """Tell whether a zone is the reader's: a second column would repeat the first."""
    return zone_named(zone_name) == reader_zone(context["request"])


@register.simple_tag(takes_context=True)
def beside_zoned(context: Mapping[str, Any], value: datetime, zone_name: str) -> SafeString | str:
    """Say what a time in a schedule's zone leaves open: how long ago it was, or what it is in the reader's zone."""
    if abs(timezone.now() - value) < timedelta(days=1):
        return when(value)
    there, here = moment_text(value, zone_named(zone_name) or UTC), moment_text(value, reader_zone(context["request"]))
    return "" if there == here else _("{time} here").format(time=here)


@register.simple_tag
def over(value: float, bound: float) -> str:
    """Say how much more than a bound something is: 1.03 ×."""
    return f"{value / bound:.2f} ×" if bound else formatting.MISSING


@register.simple_tag
def time_left(ends_at: datetime) -> SafeString:
    """Say how long until an estimated end; frontend/src/text/times.ts counts it down."""
    left = max(0, round((ends_at - timezone.now()).total_seconds()))
    length = f"{left} s" if left < 60 else formatting.duration(left)
    words = _("about {length} left").format(length=length)
    return format_html('<span data-until="{}">{}</span>', ends_at.isoformat(), words)


@register.filter
def kind_label(name: str) -> str:
    """Return a kind's label; its bare name when an older run used a kind that has left the catalog."""
    kind = catalog().kinds.get(name)
    return kind.label if kind else name


@register.filter
def limit_label(by: str) -> str:
    """Say what limited a run."""
    return limit_words(by)


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


def params_text(kind_name: str, values: Mapping[str, Any]) -> str:
    """Say parameters as the catalog labels them, in its order."""
    return _params_text(kind_name, json.dumps(values), get_language())


@lru_cache(maxsize=4_096)
def _params_text(kind_name: str, written: str, _language: str | None) -> str:
    """Keep what was said: repetitions, and one page after the other, show the same parameters again and again."""
    kind, values = catalog().kinds.get(kind_name), json.loads(written)
    texts = [_param(kind, name, values[name]) for name in _ordered(kind, values)]
    return " · ".join(texts) if texts else _("defaults")


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
        _setting(setting, is_only=units[setting.unit] == 1 and not setting.unit.endswith("/s")) for setting in values
    ]


def _setting(setting: Setting, *, is_only: bool) -> str:
    value = setting.value
    if value is None:
        return f"{setting.label.lower()} {unknown_words()}"
    if setting.unit and isinstance(value, int | float) and not isinstance(value, bool):
        text = formatting.setting(value, setting.unit)
        return text if is_only else f"{setting.label.lower()} {text}"
    return f"{setting.label.lower()} {value_text(value) if isinstance(value, str) else value}"


def _option(pk: str, name: str, *, is_chosen: bool) -> str:
    return f'<option value="{escape(pk)}"{" selected" if is_chosen else ""}>{escape(name)}</option>'


def _endpoint_name(host: str, name: str, network_mode: str) -> str:
    """Return an endpoint's name as markup, escaped."""
    if name == host:
        return escape(host)
    return f'{escape(host)} <span class="meta">({escape(name or network_mode)})</span>'


def _param(kind: Kind | None, name: str, value: Any) -> str:
    parameter = kind.parameters.get(name) if kind else None
    if parameter is None:
        return f"{name} {value}"
    values = value if isinstance(value, list) else [value]
    return f"{parameter.label.lower()} {', '.join(value_words(parameter, single) for single in values)}"


def _ordered(kind: Kind | None, values: Mapping[str, Any]) -> list[str]:
    known = [name for name in kind.parameters if name in values] if kind else []
    return known + [name for name in values if name not in known]


def _ago(value: datetime, to_the_second: str, language: str | None) -> str:
    """Say how long ago it was, within a day; escaped."""
    seconds = (datetime.now(UTC) - value).total_seconds()
    if not 0 <= seconds < _DAY_SECONDS:
        return f"{to_the_second[:16]} UTC"
    in_seconds, in_minutes, in_hours = _ago_texts(language)
    if seconds < 60:
        return in_seconds.format(number=f"{seconds:.0f}")
    # What is rounded to 60 min is an hour.
    if seconds < _HOUR_FROM_SECONDS:
        return in_minutes.format(number=f"{seconds / 60:.0f}")
    return in_hours.format(number=f"{seconds / 3600:.0f}")


@cache
def _ago_texts(_language: str | None) -> list[str]:
    return [escape(text) for text in (_("{number} s ago"), _("{number} min ago"), _("{number} h ago"))]
