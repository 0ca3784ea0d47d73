"""Template tag for the rows of recent runs: written here in one piece, for many pages have ten of them."""

from collections.abc import Iterable
from functools import cache
from html import escape
from typing import NamedTuple

from django import template
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.runs.latest import RunLine
from benchweb.web.escaping import escaped
from benchweb.web.row_urls import row_form
from benchweb.web.templatetags.show import between, state_shown, time_shown

register = template.Library()


@register.simple_tag
def recent_run_rows(runs: Iterable[RunLine]) -> SafeString:
    """Write a row for each run: its number, state, plan, pair, when it was launched, and how long it took."""
    common = _common(get_language(), get_script_prefix())
    # Every text in them is escaped where it is put in.
    return SafeString("\n".join([_row(run, common) for run in runs]))


class _Common(NamedTuple):
    """What all rows have in common: a language, the forms of addresses, and words, escaped."""

    language: str | None
    run_url: str
    plan_url: str
    pair_url: str
    run: str
    state: str
    plan: str
    pair: str
    launched: str
    took: str


@cache
def _common(language: str | None, prefix: str) -> _Common:
    urls = [row_form(f"web:{name}", 1, prefix) for name in ("run", "plan", "pair")]
    texts = (_("Run %(number)s"), _("State"), _("Plan"), _("Pair"), _("Launched"), _("Took"))
    return _Common(language, *urls, *map(escape, texts))


def _row(run: RunLine, common: _Common) -> str:
    plan = f'<a href="{common.plan_url.format(run.plan_id)}?version={run.version}">{escaped(run.plan)}</a>'
    pair = f'<a href="{common.pair_url.format(run.pair_id)}">{escaped(run.pair)}</a>'
    name = common.run % {"number": run.pk}
    return (
        f'<tr><td class="card-title"><a href="{common.run_url.format(run.pk)}">{name}</a></td>'
        f'<td data-label="{common.state}">{state_shown(run.state, run.reason, common.language)}</td>'
        f'<td data-label="{common.plan}">{plan}</td><td data-label="{common.pair}">{pair}</td>'
        f'<td data-label="{common.launched}">{time_shown(run.created_at, "relative", common.language)}</td>'
        f'<td data-label="{common.took}" class="num">{escape(between(run.started_at, run.finished_at))}</td></tr>'
    )
