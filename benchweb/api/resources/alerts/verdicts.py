"""What the figures say: the changes of a series, the verdict on a run, and what a night gave."""

from datetime import date
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field

from benchweb.accounts.models import Team
from benchweb.api.authentication import READ
from benchweb.api.paging import refuse_unknown
from benchweb.api.problems import Problem, invalid, not_found
from benchweb.api.resources.alerts.schemas import (
    AlertItem,
    ChangeItem,
    DoubtItem,
    MeasureItem,
    NightItem,
    SeriesChangesItem,
    VerdictItem,
    alert_fields,
    outlier_item,
    slow_change_item,
)
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Identifier
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment
from benchweb.regressions import verdicts
from benchweb.regressions.baselines import pinned_baseline
from benchweb.regressions.selectors import (
    FIRST_NIGHT,
    night_environments,
    night_of_date,
    night_zone,
    series_changes,
)
from benchweb.regressions.slow.told import slow_lines_of_night
from benchweb.results.models import Series
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.schedules.timing.localtime import zone_checked, zone_of
from benchweb.site.values import site_setting

router = Router(tags=["alerts"])
_OF_ENVIRONMENT = "env:"


class VerdictQuery(BaseModel):
    """Without a baseline: the pair's own runs in the two months before."""

    baseline: Annotated[str, Field(max_length=40, examples=["12", "env:3", "pinned"])] = ""


class NightQuery(BaseModel):
    """Of one environment, or of those in which a team has roles; alerts and slots of no environment are in each.

    The noons are those of `timezone`; without it of the night's schedules, else of the installation's zone.
    """

    environment: Identifier | None = None
    team: Identifier | None = None
    timezone: Annotated[str, Field(max_length=60, examples=["Pacific/Auckland"])] = ""


@router.get("/series/{series_id}/changes", response=SeriesChangesItem, auth=READ)
def series_changes_get(request: HttpRequest, series_id: Identifier) -> SeriesChangesItem:
    """Show where a series' level changed within its latest runs, and the smallest change that it can show."""
    row_or_404(Series.objects.all(), series_id)
    changes = series_changes(series_id)
    if changes is None:
        raise Problem(409, f"Series {series_id} is not judged: its metric is none of the main figures, or has no runs.")
    return SeriesChangesItem(
        runs=changes.runs,
        is_learning=changes.is_learning,
        changes=[
            ChangeItem(
                at=run.at,
                run=run.run_id,
                before=change.before,
                after=change.after,
                difference_ratio=change.difference_ratio,
                interval_low_ratio=change.interval_low_ratio,
                interval_high_ratio=change.interval_high_ratio,
                p=change.p,
            )
            for change, run in changes.changes
        ],
        smallest_detectable_change_ratio=changes.smallest_detectable_change_ratio,
    )


@router.get("/runs/{run_id}/verdict", response=VerdictItem, auth=READ)
def run_verdict(request: HttpRequest, run_id: Identifier, query: Query[VerdictQuery]) -> VerdictItem:
    """Say whether a run is worse than a baseline: `pass`, `regression`, `inconclusive` or `no_data`.

    `baseline` is a run's id, `env:ID` (the runs of an environment), `pinned`, or none: the pair's own runs before.
    """
    refuse_unknown(request, VerdictQuery)
    run = row_or_404(Run.objects.select_related("plan_version"), run_id)
    if run.state in OPEN_STATES:
        raise Problem(409, f"Run {run_id} is {run.state}: it has no verdict before it has ended.")
    verdict, baseline_run = _beside(run, query.baseline)
    return VerdictItem(
        verdict=verdict.outcome.value,
        baseline_run=baseline_run,
        compared=verdict.compared,
        changes=[MeasureItem(**_measure(change)) for change in verdict.changes],
        in_doubt=[
            DoubtItem(**_measure(doubt.compared), repetitions_needed=doubt.repetitions) for doubt in verdict.in_doubt
        ],
        smallest_detectable_change_ratio=verdict.smallest_detectable_change_ratio,
    )


@router.get("/nights/{night}", response=NightItem, auth=READ)
def night_get(request: HttpRequest, night: str, query: Query[NightQuery]) -> NightItem:
    """Show what a night gave, from noon to noon in `timezone`, named by the date of its end."""
    refuse_unknown(request, NightQuery)
    day, environments = _date(night), _environment_ids(query)
    zone = _zone(day, environments, query.timezone)
    summary = night_of_date(day, environments, zone)
    return NightItem(
        night=summary.night,
        timezone=zone.key,
        begins_at=summary.begins,
        ends_at=summary.ends,
        begun=[AlertItem(**alert_fields(request, alert)) for alert in summary.begun],
        still_open=[AlertItem(**alert_fields(request, alert)) for alert in summary.still_open],
        recovered=[AlertItem(**alert_fields(request, alert)) for alert in summary.recovered],
        unconfirmed=[AlertItem(**alert_fields(request, alert)) for alert in summary.unconfirmed],
        outliers=[outlier_item(outlier) for outlier in summary.outliers],
        slow_changes=[slow_change_item(line) for line in slow_lines_of_night(day, environments)],
        slots=summary.slots,
        complete_slots=summary.complete_slots,
        runs=summary.runs.runs,
        finished_runs=summary.runs.whole,
        open_runs=summary.runs.open,
        smallest_detectable_change_ratio=summary.smallest_detectable_change_ratio,
    )


def _zone(night: date, environments: set[int] | None, name: str) -> ZoneInfo:
    if name:
        return zone_checked(name)
    otherwise = zone_of(site_setting("DEFAULT_TIME_ZONE"))
    return night_zone(night, environments, otherwise=otherwise).zone


def _environment_ids(query: NightQuery) -> set[int] | None:
    team = row_named(Team.objects.all(), query.team, "team") if query.team else None
    if query.environment:
        row_named(Environment.objects.all(), query.environment, "environment")
    return night_environments(query.environment, team)


def _beside(run: Run, baseline: str) -> tuple[verdicts.RunVerdict, int | None]:
    if not baseline:
        return verdicts.verdict_beside_history(run), None
    if baseline == "pinned":
        pinned = pinned_baseline(run)
        if pinned is None:
            raise invalid("baseline", "No baseline is pinned for this run's pair and plan: pin one by POST /baselines.")
        return verdicts.verdict_beside_run(run, pinned.run), pinned.run_id
    if baseline.startswith(_OF_ENVIRONMENT):
        environment = row_named(Environment.objects.all(), _id(baseline.removeprefix(_OF_ENVIRONMENT)), "baseline")
        return verdicts.verdict_beside_environment(run, environment.pk), None
    other = row_named(Run.objects.all(), _id(baseline), "baseline")
    return verdicts.verdict_beside_run(run, other), other.pk


def _id(text: str) -> int:
    pk = row_id(text)
    if pk is None:
        raise invalid("baseline", f"{text[:40]!r} is no baseline: give a run's id, env:ID, or pinned.")
    return pk


def _measure(compared: verdicts.Compared) -> dict[str, Any]:
    low, high = compared.difference.interval or (None, None)
    return {
        "series": compared.series_id,
        "kind": compared.kind,
        "metric": compared.metric,
        "difference_ratio": compared.difference.ratio,
        "interval_low_ratio": None if low is None else compared.difference.share(low),
        "interval_high_ratio": None if high is None else compared.difference.share(high),
        "p": compared.difference.p_value,
        "is_worse": compared.is_worse,
    }


def _date(text: str) -> date:
    try:
        night = date.fromisoformat(text)
    except ValueError:
        raise not_found("night", text) from None
    if night < FIRST_NIGHT:
        raise not_found("night", text)
    return night
