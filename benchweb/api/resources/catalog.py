"""The catalog: test kinds, their parameters and metrics."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from benchweb.catalog import catalog

router = Router(tags=["catalog"])


@router.get("/catalog", response=dict[str, Any])
def catalog_detail(request: HttpRequest) -> dict[str, Any]:
    """Show the catalog as the engines and the pages have it: parameters, metrics and kinds by name."""
    return catalog().document
