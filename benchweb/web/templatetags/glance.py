"""Template tag for the rows of series at a glance: written here in one piece, for a page has twenty of them."""

import json
from collections.abc import Iterable
from functools import cache, lru_cache
from html import escape
from typing import NamedTuple

from django import template
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.web.escaping import escaped
from benchweb.web.row_urls import row_form
from benchweb.web.series_glance import HISTORY, SeriesGlance, measured_query
from benchweb.web.templatetags.show import number_shown, params, time_shown
from benchweb.web.templatetags.sparklines import deviation_shown, figures_told, line_drawn

register = template.Library()


@register.simple_tag
def glance_rows(glances: Iterable[SeriesGlance], of_one_pair: object = False) -> SafeString:
    """Write a row for each series: what it is, its recent runs, its latest median, how that has changed, and when."""
    common = _common(get_language(), get_script_prefix())
    # Every text in them is escaped where it is put in.
    return SafeString("\n".join([_row(each, common, of_one_pair=bool(of_one_pair)) for each in glances]))


class _Common(NamedTuple):
    """What all rows have in common: a language, the form of a run's address, and words, escaped."""

    language: str | None
    run_url: str
    measured: str
    runs: str
    latest: str
    change: str
    when: str
    was: str


@cache
def _common(language: str | None, prefix: str) -> _Common:
    texts = (_("Measured"), _("Runs"), _("Latest"), _("Change"), _("When"), _("was"))
    return _Common(language, row_form("web:run", 1, prefix), *map(escape, texts))


class _Named(NamedTuple):
    """What a row says of a metric with its parameters, in one language, as markup; and the query for its history."""

    metric: str
    kind: str
    query: str


@lru_cache(maxsize=4_096)
def _named(kind_name: str, key: str, written: str, _language: str | None) -> _Named:
    """Keep it, for one page after the other tells of the same metrics and parameters."""
    kind, values = catalog().kinds[kind_name], json.loads(written)
    query = escape(measured_query(kind_name, key, written))
    return _Named(escape(kind.metrics[key].label), f"{escape(kind.label)} · {params(kind_name, values)}", query)


def _row(each: SeriesGlance, common: _Common, *, of_one_pair: bool) -> str:
    row, unit = each.row, each.metric.unit
    named = _named(each.kind.name, each.metric.key, json.dumps(each.params), common.language)
    told = f"{each.label}: {figures_told(each.values, unit, common.language)}"
    latest = number_shown(row.median, unit, extremes=(row.low, row.high), n=row.n)
    return (
        f"<tr>{_title(each, named, common, of_one_pair=of_one_pair)}"
        f'<td data-label="{common.runs}">{line_drawn(each.values, told, baseline=each.baseline)}</td>'
        f'<td class="num" data-first data-label="{common.latest}">{latest}</td>'
        f'<td data-first data-label="{common.change}">{_change(each, common)}</td>'
        f'<td class="glance-when" data-label="{common.when}">'
        f'<a href="{common.run_url.format(row.run)}">{time_shown(row.at, "relative", common.language)}</a></td></tr>'
    )


def _title(each: SeriesGlance, named: _Named, common: _Common, *, of_one_pair: bool) -> str:
    row = each.row
    begin = f'<td class="card-title"><a href="{HISTORY}?pair={row.pair_id}&amp;{named.query}">'
    if of_one_pair:
        return f'{begin}{named.metric}</a> <span class="meta">{named.kind}</span></td>'
    more = f" · {_others(row.together - 1)}" if row.together > 1 else ""
    return (
        f'{begin}{escaped(row.source)} <span class="arrow">→</span> {escaped(row.sink)}</a></td>'
        f'<td data-label="{common.measured}">{named.metric} <span class="meta">{named.kind}{more}</span></td>'
    )


def _others(number: int) -> str:
    """Say how many other series of the pair stand out, for which this one stands."""
    text = ngettext("and %(number)s more of its series", "and %(number)s more of its series", number)
    return escape(text % {"number": number})


def _change(each: SeriesGlance, common: _Common) -> str:
    found, shown = each.change, deviation_shown(each.change, each.metric, common.language)
    if found is None or found.is_learning:
        return shown
    was = f"{common.was} {number_shown(found.baseline, each.metric.unit)} · " if found.is_shown else ""
    return f'{shown} <span class="meta">{was}{_against(found.n_before, common.language)}</span>'


@lru_cache(maxsize=256)
def _against(number: int, _language: str | None) -> str:
    """Say how many runs before it the latest is compared with."""
    return escape(ngettext("against %(number)s run", "against %(number)s runs", number) % {"number": number})
