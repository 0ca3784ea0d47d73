"""Answer a list: the whole page, of which htmx takes the table; the address bar gets the filters that are set."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

# Of the pairs that stand on a host's or an environment's page; the rest is on the list of pairs, filtered.
PAIRS_SHOWN = 20
# Of the latest runs of something, at the foot of its page.
RUNS_SHOWN = 10


def list_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a list; for htmx push the URL without its empty filters."""
    response = render(request, template, context)
    if request.headers.get("HX-Request"):
        query = request.GET.copy()
        for name in [name for name, value in query.items() if not value]:
            del query[name]
        response["HX-Push-Url"] = f"{request.path}?{query.urlencode()}" if query else request.path
    return response
