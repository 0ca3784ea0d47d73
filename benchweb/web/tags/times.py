"""Template tags for times: when something was, how long it took, and what a clock says in another zone."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from benchweb.common import formatting
from benchweb.web.shared.zones import moment_text, reader_zone, zone_named
from benchweb.web.tags.escaping import escaped

register = template.Library()

_DAY_SECONDS = 86_400
_HOUR_FROM_SECONDS = 3_570
_WAITED_SECONDS = 60


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


@register.simple_tag
def between(start: datetime | None, end: datetime | None) -> str:
    """Say how long it took from one time to another; while it has no end, how long until now."""
    if start is None:
        return formatting.MISSING
    if end is None:
        return _("{time} so far").format(time=formatting.duration((timezone.now() - start).total_seconds()))
    return formatting.duration((end - start).total_seconds())


@register.filter
def duration(seconds: float | None) -> str:
    """Say how long something took."""
    return formatting.duration(seconds)


@register.simple_tag
def time_left(ends_at: datetime) -> SafeString:
    """Say how long until an estimated end; frontend/src/text/times.ts counts it down."""
    left = max(0, round((ends_at - timezone.now()).total_seconds()))
    length = f"{left} s" if left < 60 else formatting.duration(left)
    words = _("about {length} left").format(length=length)
    return format_html('<span data-until="{}">{}</span>', ends_at.isoformat(), words)


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


def _after(first: datetime, utc: datetime, form: str) -> str:
    """Begin the markup of a time that follows another: its day only where it is a later one."""
    text = f"{utc:%H:%M:%S}" if first.date() == utc.date() else f"{utc:%Y-%m-%d %H:%M:%S}"
    title = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    return f'<time datetime="{_exact(utc)}" data-form="{form}" data-begin="{_exact(first)}" title="{title}">{text}'


def _exact(utc: datetime) -> str:
    return f"{utc.isoformat('T', 'milliseconds')[:23]}Z"


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
