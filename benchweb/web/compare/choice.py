"""Runs to choose from on the compare page: those worth comparing with first, then the latest."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from benchweb.runs.lists import RunLine, run_lines
from benchweb.runs.models import Run
from benchweb.runs.selectors import neighbours
from benchweb.web.compare.query import CompareQuery

_RECENT = 20


@dataclass(frozen=True)
class Offered:
    """A run with the URL of the comparison that it would make."""

    run: RunLine
    url: str


@dataclass(frozen=True)
class Choice:
    """Groups of offered runs, each under its heading, and the latest runs to tick."""

    groups: list[tuple[str, list[Offered]]]
    latest: list[RunLine]


def choice(query: CompareQuery, runs: Sequence[Run]) -> Choice:
    """Offer neighbours of the first run, and while there are no two to compare the latest; at most five queries."""
    return Choice(
        groups=_groups(query, runs) if runs else [],
        latest=run_lines(Run.objects.exclude(pk__in=query.runs)[:_RECENT]) if len(runs) < 2 else [],
    )


def _groups(query: CompareQuery, runs: Sequence[Run]) -> list[tuple[str, list[Offered]]]:
    near = neighbours(runs[0])
    earlier: list[tuple[str, Sequence[RunLine | None]]] = [
        (_("Earlier runs of this plan on this pair"), near.earlier),
        (_("The night before"), [near.night_before]),
        (_("A week before"), [near.week_before]),
    ]
    groups = [(title, _offered(query, runs, offered, is_earlier=True)) for title, offered in earlier]
    groups.append((_("Launched together on other pairs"), _offered(query, runs, near.elsewhere, is_earlier=False)))
    return [(title, offered) for title, offered in groups if offered]


def _offered(
    query: CompareQuery, runs: Sequence[Run], offered: Sequence[RunLine | None], *, is_earlier: bool
) -> list[Offered]:
    chosen = tuple(run.pk for run in runs)
    new = [run for run in offered if run is not None and run.pk not in chosen]
    # What was before is what a single run is held against; beside a comparison a run more is one more column.
    is_baseline = is_earlier and len(runs) == 1
    orders = [(run, (run.pk, *chosen) if is_baseline else (*chosen, run.pk)) for run in new]
    return [Offered(run, query.url(runs=order, is_choosing=False)) for run, order in orders]
