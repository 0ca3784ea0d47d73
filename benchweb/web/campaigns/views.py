"""Campaigns: the list, and a campaign's page with how far its runs are and why each one waits."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.charts.main_figures import figures_of_campaigns
from benchweb.common.rows import row_id
from benchweb.plans.selectors import plan_choices
from benchweb.runs.lists import listed_runs
from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.selectors import environments_of_campaign, environments_of_campaigns
from benchweb.runs.services import campaign_cancel
from benchweb.runs.summaries import CampaignSummary, campaign_summaries
from benchweb.schedules.selectors import listed_campaigns
from benchweb.web.access.context import can_of
from benchweb.web.campaigns.simultaneous import together_view
from benchweb.web.chosen_rows.labels import rows_labelled
from benchweb.web.runs.launch_days import LAUNCH_DAYS, launched_within
from benchweb.web.shared.archiving import counted, ticked
from benchweb.web.shared.lists import Column, chosen_columns, list_page, listing, posted_back
from benchweb.web.shared.zones import reader_zone

COLUMNS = [
    Column(gettext_noop("Run"), "pk"),
    Column(gettext_noop("State"), "state"),
    Column(gettext_noop("Source → sink"), "pair__source__host__name"),
    Column(gettext_noop("Why")),
    Column(gettext_noop("Failed attempts"), "attempts", numeric=True),
    Column(gettext_noop("Started")),
    Column(gettext_noop("Took"), numeric=True),
]
LIST_COLUMNS = [
    Column(gettext_noop("Select")),
    Column(gettext_noop("Campaign"), "pk"),
    Column(gettext_noop("State")),
    Column(gettext_noop("Plan"), "plan_version__plan__name", key="plan"),
    Column(gettext_noop("Main figure"), numeric=True, key="figure"),
    Column(gettext_noop("Change"), key="change"),
    Column(gettext_noop("Last runs"), key="line"),
    Column(gettext_noop("Launched"), "created_at", key="launched"),
    Column(gettext_noop("Complete"), numeric=True, key="finished"),
    Column(gettext_noop("Took"), numeric=True, key="took"),
]
LIST_FILTERS = ("plan", *LAUNCH_DAYS)


@needs(Permission.READ)
@require_GET
def campaign_list(request: HttpRequest) -> HttpResponse:
    """List campaigns, the newest first, each with how far its runs are."""
    ids = _campaigns(request).values_list("pk", named=True)
    page = listing(request, ids, columns=LIST_COLUMNS, sort="-pk", filters=LIST_FILTERS)
    campaigns = listed_campaigns([row.pk for row in page.rows])
    summaries = campaign_summaries([campaign.pk for campaign in campaigns])
    figures = figures_of_campaigns([campaign.pk for campaign in campaigns])
    rows = [(campaign, summaries[campaign.pk], figures.get(campaign.pk)) for campaign in campaigns]
    columns = chosen_columns(request, "campaigns", LIST_COLUMNS)
    plans = plan_choices(row_id(request.GET.get("plan", "")))
    context = {"page": page.of_columns(columns.hidden), "rows": rows, "plans": plans, "columns": columns}
    can = can_of(request.user)
    bulk = {"label_url": can.address("campaigns_label"), "cancel_url": can.address("campaigns_cancel")}
    return list_page(request, "campaigns/campaigns.html", context | bulk)


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def campaigns_cancel(request: HttpRequest) -> HttpResponse:
    """Cancel every open run of the ticked campaigns, once it is confirmed which they are."""
    ids = ticked(request.POST.getlist("rows"))
    access_of(request.user).demand(Permission.RUN, environments_of_campaigns(ids))
    summaries = campaign_summaries(ids)
    opened = [campaign for campaign in listed_campaigns(ids) if summaries[campaign.pk].is_open]
    if not opened:
        messages.warning(request, _("Nothing to cancel: every run has completed or is already stopping."))
    elif request.POST.get("confirmed") != "1":
        rows = [(campaign, summaries[campaign.pk]) for campaign in opened]
        return render(request, "campaigns/cancel_campaigns.html", {"rows": rows})
    else:
        campaigns = Campaign.objects.filter(pk__in=[each.pk for each in opened])
        cancelled = sum(campaign_cancel(campaign=campaign) for campaign in campaigns)
        messages.success(
            request,
            _("{runs} cancelled: running tests stop within two seconds.").format(runs=counted(cancelled, "run")),
        )
    return redirect("web:campaigns")


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def campaigns_label(request: HttpRequest) -> HttpResponse:
    """Add a label to every run of the ticked campaigns, or take one from them."""
    ids, back = ticked(request.POST.getlist("rows")), posted_back(request, "web:campaigns")
    access_of(request.user).demand(Permission.RUN, environments_of_campaigns(ids))
    if not ids:
        messages.warning(request, _("Nothing is selected: tick some in the first column."))
        return redirect(back)
    return rows_labelled(request, Run.objects.filter(campaign__in=ids), "run", back)


@needs(Permission.READ)
@require_GET
def campaign_page(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show a campaign; htmx gets what changes while it runs."""
    campaigns = Campaign.objects.select_related("plan_version__plan", "created_by", "slot__schedule")
    campaign = get_object_or_404(campaigns, pk=campaign_id)
    summary = campaign_summaries([campaign.pk])[campaign.pk]
    page = listing(request, _runs(request, campaign), columns=COLUMNS, sort="pk", filters=["state"])
    context = {
        "campaign": campaign,
        "slot": getattr(campaign, "slot", None),
        "summary": summary,
        "segments": _segments(summary),
        "page": page,
        "runs": listed_runs([row.pk for row in page.rows]),
        "states": State.values,
        "together": together_view(campaign),
    }
    template = "campaigns/partials/campaign.html" if request.htmx else "campaigns/campaign.html"  # type: ignore[attr-defined]
    return render(request, template, context)


@needs(Permission.RUN, within=environments_of_campaign)
@require_POST
def campaign_cancel_page(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Cancel every run of a campaign that isn't final."""
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    cancelled = campaign_cancel(campaign=campaign)
    if cancelled:
        messages.success(
            request,
            _("{runs} cancelled: running tests stop within two seconds.").format(runs=counted(cancelled, "run")),
        )
    else:
        messages.warning(request, _("Nothing to cancel: every run has completed or is already stopping."))
    return redirect("web:campaign", campaign_id)


def _campaigns(request: HttpRequest) -> "QuerySet[Campaign]":
    campaigns = launched_within(Campaign.objects.all(), request.GET, reader_zone(request))
    plan = request.GET.get("plan", "").strip()
    return campaigns.filter(plan_version__plan=row_id(plan) or 0) if plan else campaigns


def _runs(request: HttpRequest, campaign: Campaign) -> "QuerySet[Run, Any]":
    runs = Run.objects.filter(campaign=campaign)
    state = request.GET.get("state", "")
    return (runs.filter(state=state) if state in State.values else runs).values_list("pk", named=True)


def _segments(summary: CampaignSummary) -> list[dict[str, str | int]]:
    """Return the parts of the bar that shows the runs by state, in per cent."""
    left = 0.0
    segments: list[dict[str, str | int]] = []
    for state in (
        State.FINISHED,
        State.FAILED,
        State.NONSTART,
        State.MISSED,
        State.CANCELLED,
        State.RUNNING,
        State.PENDING,
    ):
        count = summary.counts[state]
        width = count / summary.total * 100 if summary.total else 0
        if count:
            segments.append({"state": state.value, "count": count, "left": f"{left:.3f}", "width": f"{width:.3f}"})
        left += width
    return segments
