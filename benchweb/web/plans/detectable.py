"""Show the smallest changes that a plan's series can show."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.charts.history.line_names import setting_parts
from benchweb.regressions.detectable import MOST_COUNTED, Detectable, detectable_changes
from benchweb.statistics.deciding import LEAST_RUNS

_MOST_SHOWN = 20


@dataclass(frozen=True)
class DetectableRow:
    """A series, the smallest change that it shows, and what would halve that, in words."""

    pair: str
    environment: str
    figure: str
    url: str
    smallest: str
    is_learning: bool
    runs: int
    repetitions: int
    # None where `note` says why there is no number.
    repetitions_to_halve: int | None
    note: str


@dataclass(frozen=True)
class DetectableSection:
    """The first series of a plan, and how many are not listed."""

    rows: list[DetectableRow]
    hidden: int
    is_more: bool


def detectable_section(plan_id: int) -> DetectableSection:
    """Return what a plan's series can show; four queries."""
    changes, total = detectable_changes(plan_id, _MOST_SHOWN)
    return DetectableSection([_row(change) for change in changes], max(0, total - _MOST_SHOWN), total == MOST_COUNTED)


def _row(change: Detectable) -> DetectableRow:
    series = change.series
    kind = catalog().kinds[series.kind]
    note = _note(change)
    settings = setting_parts([kind.stated_defaults | series.identity], kind)[0].values()
    return DetectableRow(
        pair=str(series.pair),
        environment=str(series.pair.environment),
        figure=" · ".join([kind.label, kind.metrics[series.metric].label, *settings]),
        url=f"{reverse('web:history')}?{urlencode({'series': series.pk})}",
        smallest="" if change.ratio is None else f"{change.ratio * 100:.1f} %",
        is_learning=change.is_learning,
        runs=change.runs,
        repetitions=change.repetitions,
        repetitions_to_halve=None if note else change.repetitions_to_halve,
        note=note,
    )


def _note(change: Detectable) -> str:
    """Say why no number of repetitions shows half as much; nothing where one does."""
    if change.is_learning:
        left = LEAST_RUNS - change.runs
        return ngettext("{count} run until it is known", "{count} runs until it is known", left).format(count=left)
    if change.ratio is None:
        return _("its level is 0")
    if change.is_at_floor:
        return _("none needed: smaller changes alert nobody")
    if change.repetitions_to_halve is None:
        return _("more repetitions don't help: runs differ from each other")
    return ""
