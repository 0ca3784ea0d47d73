"""What a threshold would have done lately, before it is saved."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from django.utils import timezone

from benchweb.regressions.thresholds.rules import ThresholdValues, is_beyond
from benchweb.results.models import RunFigure

DAYS = 30
# Of a fleet's slot a minute the newest: a form waits for it.
MOST_FIGURES = 20_000


class _Figure(NamedTuple):
    series: int
    at: datetime
    median: float


@dataclass(frozen=True)
class Rehearsal:
    """What the figures of the last days would have broken, in the metric's unit; without figures all of it is None."""

    series: int
    figures: int
    broken: int
    # When alerts would have opened, the oldest first.
    opened: list[datetime]
    low: float | None
    middle: float | None
    high: float | None
    # There are more figures: these are the newest, from then on.
    first: datetime | None
    is_cut: bool


def rehearsal(values: ThresholdValues) -> Rehearsal:
    """Judge the figures of the last 30 days by a limit that is a figure; one query.

    An alert of a threshold opens with its first series that breaks the limit, and ends with the last that keeps it.
    What comes and goes opens it again here, where in truth it is one.
    """
    rows = RunFigure.objects.filter(
        series__kind=values.kind, series__metric=values.metric, at__gte=timezone.now() - timedelta(days=DAYS)
    )
    if values.identity_digest:
        rows = rows.filter(series__identity_digest=values.identity_digest)
    if values.environment is not None:
        rows = rows.filter(run__pair__environment=values.environment)
    if values.pair is not None:
        rows = rows.filter(run__pair=values.pair)
    if values.plan is not None:
        rows = rows.filter(run__plan_version__plan=values.plan)
    newest = rows.order_by("-at", "-pk").values_list("series_id", "at", "median")[: MOST_FIGURES + 1]
    figures = [_Figure(*row) for row in newest]
    is_cut = len(figures) > MOST_FIGURES
    figures = figures[:MOST_FIGURES][::-1]
    medians = [figure.median for figure in figures]
    return Rehearsal(
        series=len({figure.series for figure in figures}),
        figures=len(figures),
        broken=sum(is_beyond(values.relation, figure.median, values.limit) for figure in figures),
        opened=_opened(values, figures),
        low=min(medians, default=None),
        middle=median(medians) if medians else None,
        high=max(medians, default=None),
        first=figures[0].at if figures else None,
        is_cut=is_cut,
    )


def _opened(values: ThresholdValues, figures: Iterable[_Figure]) -> list[datetime]:
    alike: dict[int, tuple[bool, int]] = defaultdict(lambda: (False, 0))
    broken: set[int] = set()
    opened = []
    for figure in figures:
        breaks = is_beyond(values.relation, figure.median, values.limit)
        was_beyond, runs = alike[figure.series]
        runs = runs + 1 if breaks == was_beyond else 1
        alike[figure.series] = breaks, runs
        if runs < values.runs_in_row:
            continue
        if not breaks:
            broken.discard(figure.series)
        elif not broken:
            opened.append(figure.at)
        if breaks:
            broken.add(figure.series)
    return opened
