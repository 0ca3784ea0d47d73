"""Campaigns: a plan launched on several pairs together."""

from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import Page, PageQuery, page_of
from benchweb.api.problems import invalid
from benchweb.api.resources.planning import simultaneous
from benchweb.api.resources.planning.targets import TargetBody, target_of
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Identifier, Item
from benchweb.plans.models import Plan
from benchweb.runs import services
from benchweb.runs.models import Campaign
from benchweb.runs.selectors import environments_of_campaign
from benchweb.runs.summaries import CampaignSummary, campaign_summaries
from benchweb.schedules import targets

router = Router(tags=["campaigns"])


class CampaignBody(TargetBody):
    plan: Identifier
    confirm_runs: Identifier | None = None
    # In `rounds` each pair has its first repetition before any has its second; `together` all start each trial at once.
    arrangement: Literal["runs", "rounds", "together"] = "runs"


class CampaignQuery(PageQuery):
    plan: Identifier | None = None
    schedule: Identifier | None = None


class CampaignItem(Item):
    id: int
    state: str
    plan: int
    plan_name: str
    plan_version: int
    schedule: int | None
    arrangement: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    # How many runs are in each state.
    runs: dict[str, int]
    makespan_seconds: float | None
    planned_seconds: float | None
    lower_bound_seconds: float | None


@router.get("/campaigns", response=Page[CampaignItem], auth=READ)
def campaign_list(request: HttpRequest, query: Query[CampaignQuery]) -> Page[CampaignItem]:
    """List campaigns, newest first; `schedule` finds those of its slots."""
    wanted = {"plan_version__plan": query.plan, "slot__schedule": query.schedule}
    rows = _campaigns().filter(**{field: value for field, value in wanted.items() if value is not None})
    return page_of(request, query, rows, _items, newest_first=True)


@router.post("/campaigns", response={201: CampaignItem}, auth=RUN.checked_by_view())
@transaction.atomic
def campaign_create(request: HttpRequest, body: CampaignBody) -> Status[CampaignItem]:
    """Launch a plan's latest version on the chosen pairs, a run each; over a thousand need `confirm_runs`."""
    plan = row_named(Plan.objects.all(), body.plan, "plan")
    target, count = targets.checked_and_counted(target_of(body))
    if question := services.confirmation_needed(count, body.confirm_runs):
        raise invalid("confirm_runs", question)
    user = caller(request)
    targets.target_demand(target, user)
    pairs = targets.pairs_of(target)
    campaign = services.launch(plan=plan, pairs=pairs, user=user, arrangement=body.arrangement)
    return Status(201, _item(campaign.pk))


@router.get("/campaigns/{campaign_id}", response=CampaignItem, auth=READ)
def campaign_detail(request: HttpRequest, campaign_id: Identifier) -> CampaignItem:
    """Show a campaign; its state follows from its runs', which `GET /runs?campaign=` lists."""
    return _item(campaign_id)


@router.get("/campaigns/{campaign_id}/together", response=Page[simultaneous.TogetherItem], auth=READ)
def campaign_together(
    request: HttpRequest, campaign_id: Identifier, query: Query[simultaneous.TogetherQuery]
) -> Page[simultaneous.TogetherItem]:
    """List what the sources of a campaign `together` gave, trial by trial; empty for one of another arrangement."""
    return simultaneous.page_of_campaign(request, query, row_or_404(_campaigns(), campaign_id))


@router.post("/campaigns/{campaign_id}/cancel", response={202: CampaignItem}, auth=RUN.within(environments_of_campaign))
def campaign_cancel(request: HttpRequest, campaign_id: Identifier) -> Status[CampaignItem]:
    """Cancel every open run of a campaign."""
    services.campaign_cancel(campaign=row_or_404(_campaigns(), campaign_id))
    return Status(202, _item(campaign_id))


def _campaigns() -> "QuerySet[Campaign, Campaign]":
    return Campaign.objects.select_related("plan_version__plan", "slot")


def _item(campaign_id: int) -> CampaignItem:
    return _items([row_or_404(_campaigns(), campaign_id)])[0]


def _items(campaigns: list[Campaign]) -> list[CampaignItem]:
    summaries = campaign_summaries(campaign.pk for campaign in campaigns)
    return [_campaign_item(campaign, summaries[campaign.pk]) for campaign in campaigns]


def _campaign_item(campaign: Campaign, summary: CampaignSummary) -> CampaignItem:
    return CampaignItem(
        id=campaign.pk,
        state=summary.state,
        plan=campaign.plan_version.plan_id,
        plan_name=campaign.plan_version.plan.name,
        plan_version=campaign.plan_version.number,
        schedule=campaign.slot.schedule_id if hasattr(campaign, "slot") else None,
        arrangement=campaign.arrangement,
        created_at=campaign.created_at,
        started_at=summary.started_at,
        finished_at=summary.finished_at,
        runs=summary.counts,
        makespan_seconds=summary.makespan_seconds,
        planned_seconds=campaign.planned_seconds,
        lower_bound_seconds=campaign.lower_bound_seconds,
    )
