"""Search: a page of results, and the first few while one still types."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from benchweb.web.search import found, parsed

MOST_OF_A_TYPE = 20
MOST_SUGGESTED = 4


@login_required
@require_GET
def search_page(request: HttpRequest) -> HttpResponse:
    """Show what matches, by type."""
    text = request.GET.get("q", "").strip()
    # The field in the top bar holds it, to be changed there.
    context = {"text": text, "search_text": text, "groups": found(parsed(text), MOST_OF_A_TYPE)}
    return render(request, "pages/search.html", context)


@login_required
@require_GET
def suggestions(request: HttpRequest) -> HttpResponse:
    """Give the list below the search in the top bar."""
    text = request.GET.get("q", "").strip()
    context = {"text": text, "groups": found(parsed(text), MOST_SUGGESTED)}
    return render(request, "partials/search_suggestions.html", context)
