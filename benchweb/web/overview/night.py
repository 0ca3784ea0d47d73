"""The last night for the overview: each environment's verdict, its runs, its figures night by night, size and pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.urls import reverse
from django.utils import timezone

from benchweb.catalog import Metric, catalog
from benchweb.documents.charts import ChartSpec, Detail
from benchweb.regressions.overview import AlertsNow, EnvironmentAlerts
from benchweb.results.nightly_summaries import FIGURES
from benchweb.results.series_summaries import environment_figures
from benchweb.runs.outcomes import DAYS_BEFORE, EnvironmentOutcome, outcomes
from benchweb.web.series.pictures import (
    NIGHT,
    NightMedian,
    Pictures,
    figures_of,
    first_night,
    in_order,
    told_figures,
    with_meshes,
)

_ENVIRONMENTS_SHOWN = 20
# So many environments have a card each on a screen; more are rows.
MOST_CARDS = 3
_SILENT_SHOWN = 8


class EnvironmentVerdict(NamedTuple):
    """The worst that is known of an environment, which comes first in a list; `figure` where it decides."""

    rank: int
    code: str
    figure: NightMedian | None = None


@dataclass(frozen=True, kw_only=True)
class EnvironmentRow(Pictures):
    """An environment in the overview."""

    name: str
    outcome: EnvironmentOutcome | None
    alerts: EnvironmentAlerts | None

    @property
    def is_synthetic(self) -> bool:
        """Tell whether it is a sample, which nobody measured."""
        return self.outcome is not None and self.outcome.is_sample

    @property
    def url(self) -> str:
        return _environment_url(self.id)

    @cached_property
    def verdict(self) -> EnvironmentVerdict:
        """Tell how it is, in a code that the page has words for."""
        return _verdict(self.alerts, self.outcome, [figure for _metric, figure in self.figures if figure])


@dataclass(frozen=True)
class LastNight:
    """The last night as the overview tells it."""

    since: datetime
    environments: list[EnvironmentRow]
    environments_hidden: int
    # Where neither a run ended lately nor a night has a figure, by name, and in how many days none did.
    silent: list[tuple[str, str]]
    silent_hidden: int
    silent_days: int
    metrics: list[Metric]
    # That ended in the night, and those of them without a whole result; of archived environments, too, of no sample.
    runs: int
    faulty_runs: int

    @property
    def are_cards(self) -> bool:
        return len(self.environments) <= MOST_CARDS

    @property
    def charts(self) -> list[ChartSpec]:
        """Draw every environment that is shown."""
        detail: Detail = "small" if self.are_cards else "row"
        return [chart for row in self.environments for chart in row.charts(detail)]


def last_night(since: datetime, alerts: AlertsNow) -> LastNight:
    """Return the last night beside those before it; four queries: figures, runs, pairs, alerts."""
    now = timezone.now()
    nights = environment_figures(first_night())
    ended = {each.environment_id: each for each in outcomes(since)}
    names = {row.environment_id: row.environment for row in nights}
    in_use = {key: outcome for key, outcome in ended.items() if not outcome.is_archived}
    silent = [each for each in in_use.values() if each.is_silent and each.environment_id not in names]
    names |= {key: outcome.environment for key, outcome in in_use.items() if not outcome.is_silent}
    told = told_figures(nights, {key for key, each in alerts.by_environment.items() if each.worse})
    rows = _rows(names, ended, alerts, figures_of(nights, now, told))
    return LastNight(
        since=since,
        environments=with_meshes(rows[:_ENVIRONMENTS_SHOWN], since),
        environments_hidden=max(0, len(rows) - _ENVIRONMENTS_SHOWN),
        silent=[(each.environment, _environment_url(each.environment_id)) for each in silent[:_SILENT_SHOWN]],
        silent_hidden=max(0, len(silent) - _SILENT_SHOWN),
        silent_days=DAYS_BEFORE + NIGHT.days,
        metrics=[catalog().metrics[key] for key in FIGURES],
        runs=sum(each.runs for each in ended.values() if not each.is_sample),
        faulty_runs=sum(each.without for each in ended.values() if not each.is_sample),
    )


def _rows(
    names: Mapping[int, str],
    ended: Mapping[int, EnvironmentOutcome],
    alerts: AlertsNow,
    figures: Mapping[int, Mapping[str, NightMedian]],
) -> list[EnvironmentRow]:
    rows = [
        EnvironmentRow(
            of={"environment": environment_id},
            name=name,
            outcome=ended.get(environment_id),
            alerts=alerts.by_environment.get(environment_id),
            figures=in_order(figures.get(environment_id, {})),
            changes=alerts.changes.get(environment_id, ()),
        )
        for environment_id, name in names.items()
    ]
    return sorted(rows, key=lambda row: (row.verdict.rank, row.name, row.id))


def _verdict(
    alerts: EnvironmentAlerts | None, outcome: EnvironmentOutcome | None, figures: Sequence[NightMedian]
) -> EnvironmentVerdict:
    """Return the worst that is known; what is better comes last in a list."""
    if alerts is not None:
        return EnvironmentVerdict(0 if alerts.new else 1, "alerts")
    if outcome is None or not outcome.runs:
        return EnvironmentVerdict(2, "no runs")
    judged = [(figure.judged, figure) for figure in figures]
    for rank, code in ((3, "worse"), (5, "better"), (4, "same"), (4, "learning")):
        if figure := next((figure for judgement, figure in judged if judgement == code), None):
            return EnvironmentVerdict(rank, code, figure)
    return EnvironmentVerdict(4, "not measured")


def _environment_url(environment_id: int) -> str:
    return reverse("web:environment", args=[environment_id])
