"""Runs: a plan on a pair, its trials, and what they gave."""

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.problems import Problem, not_found
from benchweb.api.resources.launches import RunBody, pair_of, version_of
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier, Item, run_url
from benchweb.catalog.reasons import reason_items
from benchweb.charts.run import export
from benchweb.charts.run.confidence import confidence_document
from benchweb.common.downloads import download
from benchweb.results.confidence import run_confidence
from benchweb.results.selectors import TrialRow, trial_rows
from benchweb.runs import selectors, services
from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.runs.queueing.expectation import expectation
from benchweb.runs.selectors import environments_of_run

router = Router(tags=["runs"])
_CSV = {
    "parameters": [
        {
            "name": "bom",
            "in": "query",
            "description": "1 begins the file with a byte order mark, by which Excel knows that it is UTF-8",
            "schema": {"type": "string", "enum": ["0", "1"]},
        }
    ],
    "responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
}


class RunQuery(PageQuery):
    state: State | None = None
    plan: Identifier | None = None
    pair: Identifier | None = None
    environment: Identifier | None = None
    host: Identifier | None = None
    campaign: Identifier | None = None
    label: Annotated[str, Field(max_length=60)] = ""
    size_bytes: Identifier | None = None
    text: Annotated[str, Field(max_length=200)] = ""


class RunState(Item):
    id: int
    state: str
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None
    url: str


class RunItem(RunState):
    waiting_for: str
    waiting_for_code: str | None
    waiting_for_params: dict[str, Any] | None
    plan: int
    plan_name: str
    plan_version: int
    pair: int
    pair_name: str
    environment: int
    environment_name: str
    campaign: int
    labels: list[str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    intervals_removed_at: datetime | None
    details_removed_at: datetime | None


class LimitItem(Item):
    direction: str
    by: str
    summary: str


class TrialItem(Item):
    id: int
    index: int
    kind: str
    params: dict[str, Any]
    repetition: int
    state: str
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None
    started_at: datetime | None
    finished_at: datetime | None
    metrics: dict[str, float]
    flags: list[str]
    limits: list[LimitItem]


class CombinationItem(Item):
    kind: str
    params: dict[str, Any]
    metric: str
    repetitions: int
    failed: int
    mean: float | None
    low: float | None
    high: float | None
    width_percent: float | None
    is_reached: bool


class ConfidenceItem(Item):
    level_percent: float
    width_percent: float
    max_repetitions: int
    is_reached: bool
    combinations: list[CombinationItem]


class SourceAddresses(Item):
    control: str
    data: str | None = None


class SinkAddresses(Item):
    control: str
    data: str
    data_port: int


class RunAddresses(Item):
    source: SourceAddresses
    sink: SinkAddresses


class QueueItem(Item):
    """Where a pending run is in the queue, computed at this moment; no times while an end of it does not answer."""

    ahead: int
    # The runs that are on its hosts now.
    running: list[int]
    expected_start_at: datetime | None
    expected_end_at: datetime | None
    # Too many are ahead to play them through.
    is_estimate: bool


class RunDetail(RunItem):
    queue: QueueItem | None
    addresses: RunAddresses | None
    confidence: ConfidenceItem | None
    trials: list[TrialItem]


@router.get("/runs", response=Page[RunItem], auth=READ)
def run_list(request: HttpRequest, query: Query[RunQuery]) -> Page[RunItem]:
    """List runs, newest first; `text` is looked for in the names of plans, hosts and environments."""
    filters = selectors.RunFilters(
        state=query.state or "",
        plan=query.plan,
        pair=query.pair,
        environment=query.environment,
        host=query.host,
        campaign=query.campaign,
        label=query.label,
        size_bytes=query.size_bytes,
        text=query.text,
    )
    rows = selectors.runs_matching(filters)
    return page(request, query, rows, lambda run: RunItem(**_fields(request, run)), newest_first=True)


@router.post("/runs", response={201: RunState}, auth=RUN.checked_by_view())
@transaction.atomic
def run_create(request: HttpRequest, body: RunBody) -> Status[RunState]:
    """Launch a plan's latest version, or a test that no plan has, on a pair or between two endpoints.

    Where no pair connects the endpoints, it is made by who may make pairs: in the environment that both hosts are in.
    """
    user = caller(request)
    version, pair = version_of(body), pair_of(body, user)
    try:
        campaign = services.launch_version(version=version, pairs=[pair], user=user)
    except services.LaunchError as error:
        # The service speaks of several pairs; this call has one.
        raise services.LaunchError(error.field.replace("pairs", "pair"), error.message) from error
    return Status(201, run_state(request, campaign.runs.get()))


@router.get("/runs/{run_id}", response=RunDetail, auth=READ)
def run_detail(request: HttpRequest, run_id: Identifier) -> RunDetail:
    """Show a run with its trials; the number of queries doesn't depend on theirs."""
    run = _run(run_id)
    rows = trial_rows(run_id)
    confidence = confidence_document(run_confidence(run.plan_version, rows))
    return RunDetail(
        **_fields(request, run),
        queue=_queue(run),
        addresses=RunAddresses(**run.addresses) if run.addresses else None,
        confidence=ConfidenceItem(**confidence) if confidence else None,
        trials=[_trial_item(row) for row in rows],
    )


@router.post("/runs/{run_id}/cancel", response={202: RunState}, auth=RUN.within(environments_of_run))
def run_cancel(request: HttpRequest, run_id: Identifier) -> Status[RunState]:
    """Cancel a run: at once when pending, within a second when running; what was measured is kept."""
    run = row_or_404(Run.objects.all(), run_id)
    requested = services.run_cancel(run=run)
    run.refresh_from_db()
    if not requested and run.state not in (*OPEN_STATES, State.CANCELLED):
        raise Problem(409, f"Run {run_id} is {run.state} already: there is nothing to cancel.")
    return Status(202, run_state(request, run))


@router.get("/runs/{run_id}/results.json", response=dict[str, Any], auth=READ)
def run_results_json(request: HttpRequest, run_id: Identifier) -> StreamingHttpResponse:
    """Download a run with the whole documents of its results, histograms and facts."""
    parts = export.run_json(_run(run_id))
    return download(request, parts, media_type="application/json", file_name=f"run-{run_id}.json")


@router.get("/runs/{run_id}/results.csv", response={200: None}, openapi_extra=_CSV, auth=READ)
def run_results_csv(request: HttpRequest, run_id: Identifier) -> StreamingHttpResponse:
    """Download a run's trials as CSV, a row each, in full precision."""
    return download(request, export.run_csv(_run(run_id)), media_type="text/csv", file_name=f"run-{run_id}.csv")


def run_state(request: HttpRequest, run: Run) -> RunState:
    """Say how a run is, and where to look."""
    return RunState(id=run.pk, state=run.state, url=run_url(request, run.pk), **reason_items("reason", run.why))


def _run(run_id: int) -> Run:
    run = selectors.run_detail(run_id)
    if run is None:
        raise not_found("run", run_id)
    return run


def _queue(run: Run) -> QueueItem | None:
    expected = expectation(run)
    if expected is None:
        return None
    return QueueItem(
        ahead=expected.ahead,
        running=expected.running,
        expected_start_at=expected.starts_at,
        expected_end_at=expected.ends_at,
        is_estimate=expected.is_rough,
    )


def _fields(request: HttpRequest, run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "state": run.state,
        **reason_items("reason", run.why),
        "url": run_url(request, run.pk),
        **reason_items("waiting_for", run.waits_for),
        "plan": run.plan_version.plan_id,
        "plan_name": run.plan_version.plan.name,
        "plan_version": run.plan_version.number,
        "pair": run.pair_id,
        "pair_name": str(run.pair),
        "environment": run.pair.environment_id,
        "environment_name": run.pair.environment.name,
        "campaign": run.campaign_id,
        "labels": run.labels,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "intervals_removed_at": run.intervals_removed_at,
        "details_removed_at": run.details_removed_at,
    }


def _trial_item(row: TrialRow) -> TrialItem:
    return TrialItem(
        id=row.id,
        index=row.index,
        kind=row.kind,
        params=row.params,
        repetition=row.repetition,
        state=row.state,
        **reason_items("reason", row.why),
        started_at=row.started_at,
        finished_at=row.finished_at,
        metrics=row.metrics,
        flags=row.flags,
        limits=[LimitItem(**limit) for limit in row.limits],
    )
