"""Alerts: the list, one alert, and what people do about it."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_ids
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import alerts as named_alerts
from benchweb.regressions.selectors import environments_of_alert, environments_of_alerts, open_count
from benchweb.regressions.transitions import AlertError
from benchweb.web.access.once import once
from benchweb.web.alerts.actions import do, do_many
from benchweb.web.alerts.alert_form import form_choices, history, mergeable
from benchweb.web.alerts.listing import alert_list
from benchweb.web.alerts.morning import morning_of, scope_choices
from benchweb.web.alerts.page import alert_page
from benchweb.web.shared.lists import list_page
from benchweb.web.shared.zones import reader_zone


@needs(Permission.READ)
@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """List the alerts that nobody has dealt with, or those that match, the worst first."""
    context = alert_list(request) | form_choices(cast(User, request.user))
    return list_page(request, "alerts/alerts.html", context)


@needs(Permission.READ)
@require_GET
def alerts_count(request: HttpRequest) -> HttpResponse:
    """Return how many alerts are open, for the navigation; it asks for itself, so that no page waits for it."""
    return render(request, "alerts/partials/count.html", {"open": open_count()})


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def alerts_triage(request: HttpRequest) -> HttpResponse:
    """Do with the alerts that are ticked what the button says; the address has the list's filters."""
    user = cast(User, request.user)
    access_of(user).demand(Permission.RUN, environments_of_alerts(row_ids(request.POST.getlist("alert"))))
    done, refusals = do_many(request.POST, user)
    if request.headers.get("HX-Request"):
        # What was typed stays where something was refused.
        outcome = {"outcome": " ".join(filter(None, [done, *refusals])), "typed": request.POST if refusals else {}}
        return render(request, "alerts/alerts.html", alert_list(request) | form_choices(user) | outcome)
    if done:
        messages.success(request, done)
    for refusal in refusals:
        messages.error(request, refusal)
    query = request.GET.urlencode()
    return redirect(f"{reverse('web:alerts')}?{query}" if query else "web:alerts")


@needs(Permission.READ)
@require_GET
def alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show an alert: its series, what else changed when it began, what people did about it."""
    return _page(request, alert_id)


@needs(Permission.READ)
@require_GET
def morning(request: HttpRequest) -> HttpResponse:
    """Show what a night gave, for one environment, a team's or all; a night that can't be read is the latest."""
    page = morning_of(request.GET, reader_zone(request))
    return render(request, "alerts/morning.html", {"page": page} | scope_choices(cast(User, request.user)))


@needs(Permission.RUN, within=environments_of_alert)
@once
@require_POST
def alert_move(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Do with an alert what the button says."""
    if not Alert.objects.filter(pk=alert_id).exists():
        raise Http404(_("There is no such alert."))
    try:
        do(alert_id, request.POST, cast(User, request.user))
    except AlertError as error:
        messages.error(request, error.message)
        return _page(request, alert_id, request.POST)
    return redirect("web:alert", alert_id)


def _page(request: HttpRequest, alert_id: int, typed: Mapping[str, Any] | None = None) -> HttpResponse:
    """Show an alert; after a refusal with what was typed."""
    row = get_object_or_404(named_alerts(), pk=alert_id)
    page = alert_page(row)
    context = {"page": page, "history": history(page.transitions), "mergeable": mergeable(row), "typed": typed or {}}
    return render(request, "alerts/alert.html", context | form_choices(cast(User, request.user)))
