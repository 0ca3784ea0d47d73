"""Campaigns: a plan launched on several pairs together."""

from datetime import datetime
from typing import Annotated

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import FailFast, Field

from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.resources.runs import RunState, run_state
from benchweb.api.rows import row_named, row_or_404, rows_named
from benchweb.api.schemas import Body, Identifier, Item
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs import services
from benchweb.runs.models import Campaign
from benchweb.runs.selectors import campaign_state

router = Router(tags=["campaigns"])


# Every ordered pair of 223 endpoints, and far more than one ever names by hand.
MAXIMUM_PAIRS = 50_000


class CampaignBody(Body):
    plan: Identifier
    pairs: Annotated[list[Identifier], Field(max_length=MAXIMUM_PAIRS), FailFast()]
    # The number of runs that is meant, where it is more than are launched without a question.
    confirm_runs: Annotated[int, Field(ge=1)] | None = None


class CampaignQuery(PageQuery):
    plan: Identifier | None = None


class CampaignRun(RunState):
    pair: int


class CampaignItem(Item):
    id: int
    state: str
    plan: int
    plan_name: str
    plan_version: int
    created_at: datetime
    runs: list[CampaignRun]


@router.get("/campaigns", response=Page[CampaignItem])
def campaign_list(request: HttpRequest, query: Query[CampaignQuery]) -> Page[CampaignItem]:
    """List campaigns, newest first, each with its runs."""
    rows = _campaigns() if query.plan is None else _campaigns().filter(plan_version__plan=query.plan)
    return page(request, query, rows, lambda campaign: _item(request, campaign), newest_first=True)


@router.post("/campaigns", response={201: CampaignItem})
def campaign_create(request: HttpRequest, body: CampaignBody) -> Status[CampaignItem]:
    """Launch a plan's latest version on the pairs, a run each; a pair named twice runs once."""
    if question := services.confirmation_needed(len(set(body.pairs)), body.confirm_runs):
        raise services.LaunchError("confirm_runs", question)
    plan = row_named(Plan.objects.all(), body.plan, "plan")
    pairs = Pair.objects.select_related("source__host", "sink__host", "environment")
    chosen = rows_named(pairs, body.pairs, "pairs")
    campaign = services.launch(plan=plan, pairs=chosen, user=request.auth)  # type: ignore[attr-defined]
    return Status(201, _item(request, row_or_404(_campaigns(), campaign.pk)))


@router.get("/campaigns/{campaign_id}", response=CampaignItem)
def campaign_detail(request: HttpRequest, campaign_id: Identifier) -> CampaignItem:
    """Show a campaign with its runs; its state follows from theirs."""
    return _item(request, row_or_404(_campaigns(), campaign_id))


@router.post("/campaigns/{campaign_id}/cancel", response={202: CampaignItem})
def campaign_cancel(request: HttpRequest, campaign_id: Identifier) -> Status[CampaignItem]:
    """Cancel every open run of a campaign."""
    services.campaign_cancel(campaign=row_or_404(_campaigns(), campaign_id))
    return Status(202, _item(request, row_or_404(_campaigns(), campaign_id)))


def _campaigns() -> "QuerySet[Campaign, Campaign]":
    return Campaign.objects.select_related("plan_version__plan").prefetch_related("runs")


def _item(request: HttpRequest, campaign: Campaign) -> CampaignItem:
    runs = sorted(campaign.runs.all(), key=lambda run: run.pk)
    return CampaignItem(
        id=campaign.pk,
        state=campaign_state([run.state for run in runs]),
        plan=campaign.plan_version.plan_id,
        plan_name=campaign.plan_version.plan.name,
        plan_version=campaign.plan_version.number,
        created_at=campaign.created_at,
        runs=[CampaignRun(**run_state(request, run).model_dump(), pair=run.pair_id) for run in runs],
    )
