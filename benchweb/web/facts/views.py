"""Changes of facts on all hosts."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts.facts.differences import FACTS
from benchweb.hosts.models import Environment, Host
from benchweb.web.facts.changes import FILTERS, read_changes
from benchweb.web.shared.lists import choices_of_all, list_page
from benchweb.web.shared.zones import reader_zone


@needs(Permission.READ)
@require_GET
def fact_changes(request: HttpRequest) -> HttpResponse:
    """Show which facts of which hosts changed when, as the query string filters them."""
    changes = read_changes(request.GET, reader_zone(request))
    filters = {name: request.GET.get(name, "") for name in FILTERS}
    context = {
        "rows": changes.rows,
        "next_url": _address_after(request, after=changes.following) if changes.following else "",
        "first_url": _address_after(request, after="") if request.GET.get("after") else "",
        "filters": filters,
        "is_filtered": any(filters.values()),
        "facts": list(FACTS.items()),
        **choices_of_all(
            environments=Environment.objects.filter(archived_at=None), hosts=Host.objects.filter(archived_at=None)
        ),
    }
    return list_page(request, "facts/changes.html", context)


def _address_after(request: HttpRequest, *, after: str) -> str:
    query = request.GET.copy()
    query["after"] = after
    if not after:
        del query["after"]
    return f"?{query.urlencode()}"
