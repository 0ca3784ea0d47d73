"""Labels of runs: words that people give them, to find them by; one run's, and those of a campaign's runs at once."""

from typing import Annotated

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from benchweb.api.authentication import RUN
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Identifier, Item
from benchweb.common.names import stored_name
from benchweb.labels import MAXIMUM_LABEL_LENGTH, label_add, label_remove
from benchweb.runs.models import Campaign, Run
from benchweb.runs.selectors import environments_of_campaign, environments_of_run

router = Router(tags=["runs"])


class LabelBody(Body):
    label: Annotated[str, Field(max_length=MAXIMUM_LABEL_LENGTH)]


class LabelsItem(Item):
    id: int
    labels: list[str]


class LabelledItem(Item):
    """How many runs have the label now, or had it."""

    label: str
    runs: int


@router.post("/runs/{run_id}/labels", response={201: LabelsItem}, auth=RUN.within(environments_of_run))
def run_label(request: HttpRequest, run_id: Identifier, body: LabelBody) -> Status[LabelsItem]:
    """Label a run; a label that it has already changes nothing. `GET /runs?label=` finds it."""
    row_or_404(Run.objects.all(), run_id)
    label_add(Run.objects.filter(pk=run_id), body.label)
    return Status(201, _labels(run_id))


@router.delete("/runs/{run_id}/labels/{label}", response=LabelsItem, auth=RUN.within(environments_of_run))
def run_unlabel(request: HttpRequest, run_id: Identifier, label: str) -> LabelsItem:
    """Take a label from a run; one that it doesn't have changes nothing."""
    row_or_404(Run.objects.all(), run_id)
    label_remove(Run.objects.filter(pk=run_id), label)
    return _labels(run_id)


@router.post("/campaigns/{campaign_id}/labels", response=LabelledItem, auth=RUN.within(environments_of_campaign))
def campaign_label(request: HttpRequest, campaign_id: Identifier, body: LabelBody) -> LabelledItem:
    """Label every run of a campaign."""
    count = label_add(_runs_of(campaign_id), body.label)
    return LabelledItem(label=stored_name(body.label), runs=count)


@router.delete(
    "/campaigns/{campaign_id}/labels/{label}", response=LabelledItem, auth=RUN.within(environments_of_campaign)
)
def campaign_unlabel(request: HttpRequest, campaign_id: Identifier, label: str) -> LabelledItem:
    """Take a label from every run of a campaign."""
    count = label_remove(_runs_of(campaign_id), label)
    return LabelledItem(label=stored_name(label), runs=count)


def _runs_of(campaign_id: int) -> "QuerySet[Run]":
    return Run.objects.filter(campaign=row_or_404(Campaign.objects.all(), campaign_id))


def _labels(run_id: int) -> LabelsItem:
    return LabelsItem(id=run_id, labels=Run.objects.values_list("labels", flat=True).get(pk=run_id))
