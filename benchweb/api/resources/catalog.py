"""The catalog: test kinds, their parameters and metrics."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from benchweb.api.authentication import READ
from benchweb.catalog import Kind, catalog

router = Router(tags=["catalog"])


@router.get("/catalog", response=dict[str, Any], auth=READ)
def catalog_detail(request: HttpRequest) -> dict[str, Any]:
    """Show the catalog as the engines and the pages have it: parameters, metrics and kinds by name.

    `own_kinds` are those that other systems defined by POST /results.
    """
    own = [kind for kind in catalog().kinds.values() if kind.is_own]
    return catalog().document | {"own_kinds": {kind.name: _own(kind) for kind in own}}


def _own(kind: Kind) -> dict[str, Any]:
    metrics = {
        key: {"label": metric.label, "unit": metric.unit, "better": metric.better}
        for key, metric in kind.metrics.items()
    }
    parameters = {name: parameter.schema["type"] for name, parameter in kind.parameters.items()}
    return {"label": kind.label, "metrics": metrics, "parameters": parameters}
