"""Prepare the page of an alert."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.charts.alerts.charts import MOST_BESIDE, part_titles
from benchweb.common.formatting import signed_percent
from benchweb.documents.references import Label, joined_label
from benchweb.regressions.alert_details import detail_lines, episode_text, measured_again_text
from benchweb.regressions.alert_texts import alert_title, budget_text, canary_text
from benchweb.regressions.concerned import concerned_by
from benchweb.regressions.explanations import EXPLAINED_BY, Explanation, explanation
from benchweb.regressions.handling.reopening import REOPENABLE_STATES
from benchweb.regressions.judging.budget import rerun_budget
from benchweb.regressions.measuring import is_measurable
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries, AlertTransition
from benchweb.regressions.selectors import parts_named_first
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.web.alerts.next_steps import NextSteps, next_steps

# Of an alert with more the page shows these, and says how many there are; the API has more.
MOST_SERIES = 50
# The newest: an alert that scripts comment on all day has thousands.
_MOST_TRANSITIONS = 200


@dataclass(frozen=True)
class SeriesLine:
    """One series' part in an alert, with the pages that show it."""

    part: AlertSeries
    figure: Label
    unit: str
    difference: str
    # When it was as before again; None while it is not.
    back_at: datetime | None
    interval: str
    history_url: str
    compare_url: str


@dataclass(frozen=True)
class SeriesWords:
    """The heads of the series' columns."""

    before: str
    after: str
    difference: str
    back: str


def series_words(alert: Alert) -> SeriesWords:
    """Return what the figures of an alert's series are: a limit is no level that there was before."""
    if alert.kind == Alert.Kind.THRESHOLD:
        return SeriesWords(_("Limit"), _("Measured"), _("Beyond the limit"), _("Within the limit since"))
    return SeriesWords(_("Before"), _("After"), _("Difference"), _("As before since"))


@dataclass(frozen=True)
class AlertPage:
    """An alert with its series, what else changed when it began, and its history."""

    alert: Alert
    title: Label
    # Which run measured it again, and who launched that; else why none did.
    measured_again: str
    canary: str
    # Of a suspect: how much time its schedule has left for re-runs, and how long each run takes that somebody may
    # launch whatever is left.
    budget: str
    rerun_seconds: float | None
    episode: str
    # Of what is missing: where, why, and what to do.
    details: list[str]
    is_live: bool
    is_reopenable: bool
    series: list[SeriesLine]
    words: SeriesWords
    series_left_out: int
    explanation: Explanation
    transitions: list[AlertTransition]
    next: NextSteps
    # Series that are in no chart.
    charts_left_out: int

    @property
    def has_good_run(self) -> bool:
        """Tell whether there is a last good run to look at what happened since: of what is missing there may be."""
        return not self.series or any(line.part.last_good_run_id for line in self.series)


def alert_page(alert: Alert) -> AlertPage:
    """Return what the page of an alert shows; the alert comes as `selectors.alerts` has it."""
    runs = ("recovered_run", "rerun__campaign__created_by", *EXPLAINED_BY)
    parts = list(parts_named_first(alert).select_related(*runs)[:MOST_SERIES])
    titles = part_titles(parts)
    lines = [_line(part, titles.get(part.pk, part.series.metric)) for part in parts]
    count: int = alert.series_count  # type: ignore[attr-defined]
    return AlertPage(
        alert=alert,
        title=alert_title(alert),
        measured_again=measured_again_text(alert, parts) if alert.kind == Alert.Kind.CHANGE else "",
        canary=canary_text(alert) if alert.kind == Alert.Kind.CHANGE else "",
        budget=_budget_text(alert),
        rerun_seconds=_rerun_seconds(alert, parts),
        episode=episode_text(alert),
        details=detail_lines(alert, concerned_by(alert)) if alert.kind == Alert.Kind.ABSENCE else [],
        is_live=alert.state in LIVE_STATES,
        is_reopenable=alert.state in REOPENABLE_STATES,
        series=lines,
        words=series_words(alert),
        series_left_out=count - len(lines),
        next=next_steps(alert, parts[0] if parts else None),
        charts_left_out=count - 1 - MOST_BESIDE,
        explanation=explanation(alert, parts),
        transitions=list(alert.transitions.select_related("by").order_by("-pk")[:_MOST_TRANSITIONS])[::-1],
    )


def _budget_text(alert: Alert) -> str:
    """Say what time for re-runs is left where a suspect waits for one, or lacks one."""
    schedule = alert.schedule
    if schedule is None or alert.state not in (Alert.State.SUSPECT, Alert.State.CONFIRMING):
        return ""
    has_none = not schedule.rerun_percent or schedule.paused_at is not None or schedule.archived_at is not None
    return "" if has_none else budget_text(rerun_budget(schedule))


def _rerun_seconds(alert: Alert, parts: Sequence[AlertSeries]) -> float | None:
    return occupancy(parts[0].first_bad_run.plan_version_id).seconds if parts and is_measurable(alert) else None


def percent(ratio: float | None) -> str:
    """Say a relative difference with its sign; nothing for none."""
    return "" if ratio is None else signed_percent(ratio)


def _line(part: AlertSeries, title: str) -> SeriesLine:
    series = part.series
    kind, metric = catalog().kinds.get(series.kind), catalog().metrics.get(series.metric)
    low, high = percent(part.interval_low_ratio), percent(part.interval_high_ratio)
    runs = [run for run in (part.last_good_run_id, part.first_bad_run_id) if run]
    return SeriesLine(
        part=part,
        figure=joined_label([kind.label if kind else series.kind, title]),
        unit=metric.unit if metric else "",
        difference=percent(part.difference_ratio),
        back_at=part.recovered_run.started_at or part.recovered_run.created_at if part.recovered_run else None,
        interval=_("{low} to {high}").format(low=low, high=high) if low and high else "",
        history_url=f"{reverse('web:history')}?series={series.pk}",
        compare_url=f"{reverse('web:compare')}?runs={','.join(map(str, runs))}" if len(runs) > 1 else "",
    )
