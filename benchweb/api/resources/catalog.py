"""The catalog: test kinds, their parameters and metrics; and what admins do with those that other systems defined."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import ADMIN, READ
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.problems import Problem
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Identifier, Item
from benchweb.catalog import Kind, catalog
from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_lifecycle import Own, losses_of, losses_text, own_delete, own_open, own_restore, own_retire

router = Router(tags=["catalog"])


class OwnChange(Body):
    """What to change: retired it takes no results; `environment` can only become null, which is all environments."""

    is_retired: bool | None = None
    environment: None = None


class OwnItem(Item):
    """A kind or a metric that another system defined; `environment` is null where it belongs to all."""

    id: int
    name: str
    label: str
    environment: int | None
    retired_at: datetime | None


class OwnMetricItem(OwnItem):
    unit: str
    better: str


class OwnKindItem(OwnItem):
    metrics: list[str]
    parameters: dict[str, str]


@router.get("/catalog", response=dict[str, Any], auth=READ)
def catalog_detail(request: HttpRequest) -> dict[str, Any]:
    """Show the catalog as the engines and the pages have it: parameters, metrics and kinds by name.

    `own_kinds` are those that other systems defined by POST /results.
    """
    own = [kind for kind in catalog().kinds.values() if kind.is_own]
    return catalog().document | {"own_kinds": {kind.name: _own(kind) for kind in own}}


@router.get("/own-kinds", response=Page[OwnKindItem], auth=READ)
def own_kind_list(request: HttpRequest, query: Query[PageQuery]) -> Page[OwnKindItem]:
    """List the kinds that other systems defined, by id."""
    return page(request, query, OwnKind.objects.all(), _kind_item)


@router.patch("/own-kinds/{own_id}", response=OwnKindItem, auth=ADMIN)
def own_kind_update(request: HttpRequest, own_id: Identifier, body: OwnChange) -> OwnKindItem:
    """Retire a kind or restore it, or open it to all environments."""
    _change(row_or_404(OwnKind.objects.all(), own_id), body)
    return _kind_item(row_or_404(OwnKind.objects.all(), own_id))


@router.delete("/own-kinds/{own_id}", response={204: None}, auth=ADMIN)
def own_kind_delete(request: HttpRequest, own_id: Identifier, is_confirmed: bool = False) -> Status[None]:
    """Delete a kind with its series, points and alerts; without `is_confirmed` a 409 names them."""
    return _delete(row_or_404(OwnKind.objects.all(), own_id), is_confirmed=is_confirmed)


@router.get("/own-metrics", response=Page[OwnMetricItem], auth=READ)
def own_metric_list(request: HttpRequest, query: Query[PageQuery]) -> Page[OwnMetricItem]:
    """List the metrics that other systems defined, by id."""
    return page(request, query, OwnMetric.objects.all(), _metric_item)


@router.patch("/own-metrics/{own_id}", response=OwnMetricItem, auth=ADMIN)
def own_metric_update(request: HttpRequest, own_id: Identifier, body: OwnChange) -> OwnMetricItem:
    """Retire a metric or restore it, or open it to all environments."""
    _change(row_or_404(OwnMetric.objects.all(), own_id), body)
    return _metric_item(row_or_404(OwnMetric.objects.all(), own_id))


@router.delete("/own-metrics/{own_id}", response={204: None}, auth=ADMIN)
def own_metric_delete(request: HttpRequest, own_id: Identifier, is_confirmed: bool = False) -> Status[None]:
    """Delete a metric with its series, points and alerts; without `is_confirmed` a 409 names them."""
    return _delete(row_or_404(OwnMetric.objects.all(), own_id), is_confirmed=is_confirmed)


def _change(row: Own, body: OwnChange) -> None:
    if body.is_retired is not None:
        (own_retire if body.is_retired else own_restore)(row)
    if "environment" in body.model_fields_set:
        own_open(row)


def _delete(row: Own, *, is_confirmed: bool) -> Status[None]:
    losses = losses_of(row)
    if not losses.is_nothing and not is_confirmed:
        detail = f"{row} would be deleted for ever with {losses_text(losses)}. Repeat the call with is_confirmed=true."
        raise Problem(409, detail, insist="is_confirmed")
    own_delete(row)
    return Status(204, None)


def _own(kind: Kind) -> dict[str, Any]:
    metrics = {
        key: {"label": metric.label, "unit": metric.unit, "better": metric.better}
        for key, metric in kind.metrics.items()
    }
    parameters = {name: parameter.schema["type"] for name, parameter in kind.parameters.items()}
    return {"label": kind.label, "metrics": metrics, "parameters": parameters}


def _kind_item(row: OwnKind) -> OwnKindItem:
    return OwnKindItem(
        id=row.pk,
        name=row.name,
        label=row.label,
        environment=row.environment_id,
        retired_at=row.retired_at,
        metrics=row.metrics,
        parameters=row.parameters,
    )


def _metric_item(row: OwnMetric) -> OwnMetricItem:
    return OwnMetricItem(
        id=row.pk,
        name=row.key,
        label=row.label,
        environment=row.environment_id,
        retired_at=row.retired_at,
        unit=row.unit,
        better=row.better,
    )
