"""Search: a page of results, and the first few while one still types."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.web.search.page import facts_found, found, parsed
from benchweb.web.shared.zones import reader_zone

MOST_OF_A_TYPE = 20
MOST_FACTS = 1_000
MOST_SUGGESTED = 4


@needs(Permission.READ)
@require_GET
def search_page(request: HttpRequest) -> HttpResponse:
    """Show what matches, by type; `?only=facts` shows the facts alone, and all of them."""
    text = request.GET.get("q", "").strip()
    is_of_facts = request.GET.get("only") == "facts"
    searched, most = (facts_found, MOST_FACTS) if is_of_facts else (found, MOST_OF_A_TYPE)
    groups = searched(parsed(text), most, reader_zone(request))
    # The field in the top bar holds it, to be changed there.
    context = {"text": text, "search_text": text, "groups": groups, "is_of_facts": is_of_facts}
    return render(request, "search/search.html", context)


@needs(Permission.READ)
@require_GET
def suggestions(request: HttpRequest) -> HttpResponse:
    """Return the list below the search in the top bar."""
    text = request.GET.get("q", "").strip()
    context = {"text": text, "groups": found(parsed(text), MOST_SUGGESTED, reader_zone(request))}
    return render(request, "search/partials/suggestions.html", context)
