"""What the figures say: the changes of a series, the verdict on a run, and what a night gave."""

from datetime import date
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from benchweb.api.authentication import caller
from benchweb.api.paging import Page, PageQuery, page, refuse_unknown
from benchweb.api.problems import Problem, invalid, not_found
from benchweb.api.resources.alerts.schemas import (
    AlertItem,
    BaselineBody,
    BaselineItem,
    ChangeItem,
    MeasureItem,
    NightItem,
    SeriesChangesItem,
    VerdictItem,
    alert_fields,
)
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Identifier
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment
from benchweb.regressions import verdicts
from benchweb.regressions.models import Baseline
from benchweb.regressions.selectors import night_of_date, series_changes
from benchweb.results.models import Series
from benchweb.runs.models import OPEN_STATES, Run

router = Router(tags=["alerts"])
_OF_ENVIRONMENT = "env:"


class VerdictQuery(BaseModel):
    """Without a baseline: the pair's own runs in the two months before."""

    baseline: Annotated[str, Field(max_length=40, examples=["12", "env:3", "pinned"])] = ""


@router.get("/series/{series_id}/changes", response=SeriesChangesItem)
def series_changes_get(request: HttpRequest, series_id: Identifier) -> SeriesChangesItem:
    """Show where a series' level changed within its latest runs, and the smallest change that it can show."""
    row_or_404(Series.objects.all(), series_id)
    found = series_changes(series_id)
    if found is None:
        raise Problem(409, f"Series {series_id} is not judged: its metric is none of the main figures, or has no runs.")
    return SeriesChangesItem(
        runs=found.runs,
        is_learning=found.is_learning,
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
            for change, run in found.changes
        ],
        smallest_detectable_change_ratio=found.smallest_detectable_change_ratio,
    )


@router.get("/runs/{run_id}/verdict", response=VerdictItem)
def run_verdict(request: HttpRequest, run_id: Identifier, query: Query[VerdictQuery]) -> VerdictItem:
    """Say whether a run is worse than a baseline: `pass`, `regression`, `inconclusive` or `no_data`.

    `baseline` is a run's id, `env:ID` (the runs of an environment), `pinned`, or none: the pair's own runs before.
    """
    refuse_unknown(request, VerdictQuery)
    run = row_or_404(Run.objects.select_related("plan_version"), run_id)
    if run.state in OPEN_STATES:
        raise Problem(409, f"Run {run_id} is {run.state}: it has no verdict before it has ended.")
    found, baseline_run = _beside(run, query.baseline)
    return VerdictItem(
        verdict=found.outcome.value,
        baseline_run=baseline_run,
        compared=found.compared,
        changes=[_measure(each) for each in found.changes],
        smallest_detectable_change_ratio=found.smallest_detectable_change_ratio,
    )


@router.get("/nights/{night}", response=NightItem)
def night_get(request: HttpRequest, night: str) -> NightItem:
    """Show what a night gave, from noon to noon UTC, named by the date of its end."""
    found = night_of_date(_date(night))
    return NightItem(
        night=found.night,
        begun=[AlertItem(**alert_fields(request, alert)) for alert in found.begun],
        recovered=[AlertItem(**alert_fields(request, alert)) for alert in found.recovered],
        unconfirmed=[AlertItem(**alert_fields(request, alert)) for alert in found.unconfirmed],
        slots=found.slots,
        complete_slots=found.complete_slots,
        runs=found.runs,
        finished_runs=found.finished_runs,
        smallest_detectable_change_ratio=found.smallest_detectable_change_ratio,
    )


@router.get("/baselines", response=Page[BaselineItem])
def baseline_list(request: HttpRequest, query: Query[PageQuery]) -> Page[BaselineItem]:
    """List pinned baselines, the newest first: of each pair and plan that one holds."""
    return page(request, query, Baseline.objects.all(), _baseline, newest_first=True)


@router.post("/baselines", response={201: BaselineItem})
def baseline_create(request: HttpRequest, body: BaselineBody) -> Status[BaselineItem]:
    """Pin a run as the baseline of its pair and plan, in place of the one before."""
    run = row_named(Run.objects.select_related("pair", "plan_version"), body.run, "run")
    user = caller(request)
    return Status(201, _baseline(verdicts.baseline_pin(run=run, name=body.name, by=user)))


def _beside(run: Run, baseline: str) -> tuple[verdicts.RunVerdict, int | None]:
    if not baseline:
        return verdicts.verdict_beside_history(run), None
    if baseline == "pinned":
        pinned = verdicts.pinned_baseline(run)
        if pinned is None:
            raise invalid("baseline", "No baseline is pinned for this run's pair and plan: pin one by POST /baselines.")
        return verdicts.verdict_beside_run(run, pinned.run), pinned.run_id
    if baseline.startswith(_OF_ENVIRONMENT):
        environment = row_named(Environment.objects.all(), _id(baseline.removeprefix(_OF_ENVIRONMENT)), "baseline")
        return verdicts.verdict_beside_environment(run, environment.pk), None
    other = row_named(Run.objects.all(), _id(baseline), "baseline")
    return verdicts.verdict_beside_run(run, other), other.pk


def _id(text: str) -> int:
    found = row_id(text)
    if found is None:
        raise invalid("baseline", f"{text[:40]!r} is no baseline: give a run's id, env:ID, or pinned.")
    return found


def _measure(each: verdicts.Compared) -> MeasureItem:
    low, high = each.difference.interval or (None, None)
    return MeasureItem(
        series=each.series_id,
        kind=each.kind,
        metric=each.metric,
        difference_ratio=each.difference.ratio,
        interval_low_ratio=None if low is None else each.difference.share(low),
        interval_high_ratio=None if high is None else each.difference.share(high),
        p=each.difference.p_value,
        is_worse=each.is_worse,
    )


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise not_found("night", text) from None


def _baseline(row: Baseline) -> BaselineItem:
    return BaselineItem(
        id=row.pk,
        name=row.name,
        run=row.run_id,
        pair=row.pair_id,
        plan=row.plan_id,
        environment=row.environment_id,
        pinned_at=row.pinned_at,
    )
