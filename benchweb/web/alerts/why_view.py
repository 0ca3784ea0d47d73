"""Why series fell: of an alert, a night or a host; asked for by itself, as it takes longer than a page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts.models import Host
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import alerts as named_alerts
from benchweb.regressions.selectors import alerts_of_host
from benchweb.web.alerts.morning import morning_of
from benchweb.web.alerts.why_page import why_page
from benchweb.web.shared.zones import reader_zone


@needs(Permission.READ)
@require_GET
def alert_why(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show what may be why an alert's series fell."""
    alert = get_object_or_404(named_alerts(), pk=alert_id)
    return _answer(request, [alert], reverse("web:alert", args=[alert_id]), alert_title(alert))


@needs(Permission.READ)
@require_GET
def morning_why(request: HttpRequest) -> HttpResponse:
    """Show what may be why a night's series fell, all that is left to look at together."""
    page = morning_of(request.GET, reader_zone(request))
    return _answer(request, page.changed, page.address, _("Night of {night}").format(night=page.night))


@needs(Permission.READ)
@require_GET
def host_why(request: HttpRequest, host_id: int) -> HttpResponse:
    """Show the worst live alert that concerns a host, those that began in its night, and what may be why."""
    host, address = get_object_or_404(Host, pk=host_id), reverse("web:host", args=[host_id])
    return _answer(request, alerts_of_host(host_id), address, host.name, "alerts/partials/host_why.html")


def _answer(
    request: HttpRequest, alerts: list[Alert], address: str, name: str, part: str = "alerts/partials/why.html"
) -> HttpResponse:
    """Answer with a part of a page, or with a page of its own; of a part without alerts with nothing."""
    is_part = bool(request.headers.get("HX-Request"))
    if is_part and not alerts:
        return HttpResponse()
    context = {"page": why_page(*alerts) if alerts else None, "address": address, "name": name}
    return render(request, part if is_part else "alerts/why.html", context)
