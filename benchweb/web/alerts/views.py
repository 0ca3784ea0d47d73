"""Alerts: the list, one alert, and what people do about it."""

from datetime import date
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import alerts as named_alerts
from benchweb.regressions.transitions import AlertError
from benchweb.web.alerts.actions import do, do_many
from benchweb.web.alerts.alert_form import form_choices, history, mergeable
from benchweb.web.alerts.listing import alert_list
from benchweb.web.alerts.morning import morning_page
from benchweb.web.alerts.page import alert_page
from benchweb.web.shared.lists import list_page


@login_required
@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """List the alerts that nobody has dealt with, or those that match, the worst first."""
    context = alert_list(request) | form_choices(cast(User, request.user))
    return list_page(request, "alerts/alerts.html", context)


@login_required
@require_POST
def alerts_triage(request: HttpRequest) -> HttpResponse:
    """Do with the alerts that are ticked what the button says; the address has the list's filters."""
    user = cast(User, request.user)
    done, refusals = do_many(request.POST, user)
    if request.headers.get("HX-Request"):
        told = " ".join(filter(None, [done, *refusals]))
        return render(request, "alerts/alerts.html", alert_list(request) | form_choices(user) | {"outcome": told})
    if done:
        messages.success(request, done)
    for refusal in refusals:
        messages.error(request, refusal)
    query = request.GET.urlencode()
    return redirect(f"{reverse('web:alerts')}?{query}" if query else "web:alerts")


@login_required
@require_GET
def alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show an alert: its series, what else changed when it began, what people did about it."""
    row = get_object_or_404(named_alerts(), pk=alert_id)
    page = alert_page(row)
    choices = form_choices(cast(User, request.user))
    context = {"page": page, "history": history(page.transitions), "mergeable": mergeable(row), **choices}
    return render(request, "alerts/alert.html", context)


@login_required
@require_GET
def morning(request: HttpRequest) -> HttpResponse:
    """Show what a night gave; a night that can't be read is the latest."""
    try:
        night = date.fromisoformat(request.GET.get("night", ""))
    except ValueError:
        night = None
    return render(request, "alerts/morning.html", {"page": morning_page(night)})


@login_required
@require_POST
def alert_move(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Do with an alert what the button says."""
    if not Alert.objects.filter(pk=alert_id).exists():
        raise Http404(_("There is no such alert."))
    try:
        do(alert_id, request.POST, cast(User, request.user))
    except AlertError as error:
        messages.error(request, error.message)
    return redirect("web:alert", alert_id)
