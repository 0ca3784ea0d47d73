"""Alerts: the list, one alert, and what people do about it."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment
from benchweb.regressions import transitions
from benchweb.regressions.models import LIVE_STATES, Alert
from benchweb.regressions.selectors import AlertFilters, alerts_matching
from benchweb.regressions.selectors import alerts as named_alerts
from benchweb.regressions.transitions import AlertError
from benchweb.regressions.words import alert_title
from benchweb.web.alerts.morning import morning_page
from benchweb.web.alerts.page import alert_page, percent
from benchweb.web.shared.lists import Column, list_page, listing

_COLUMNS = [
    Column(gettext_noop("Alert")),
    Column(gettext_noop("State")),
    Column(gettext_noop("Change"), numeric=True),
    Column(gettext_noop("Series"), numeric=True),
    Column(gettext_noop("Began"), "begun_at"),
    Column(gettext_noop("Assigned to")),
]
_SNOOZE_HOURS = 24
_MOVES: dict[str, Callable[..., None]] = {
    "acknowledge": transitions.acknowledge,
    "expected": transitions.expect,
    "invalid": transitions.invalidate,
    "fixed": transitions.fix,
}


@login_required
@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """List the alerts that are live, or those in a state, the newest first."""
    state = request.GET.get("state", "")
    states = tuple(Alert.State.values) if state == "all" else (state,) if state in Alert.State.values else LIVE_STATES
    filters = AlertFilters(states=states, environment=row_id(request.GET.get("environment", "")))
    page = listing(
        request, alerts_matching(filters), columns=_COLUMNS, sort="-begun_at", filters=("state", "environment")
    )
    rows = [(alert, alert_title(alert), percent(alert.params.get("ratio"))) for alert in page.rows]
    environments = Environment.objects.filter(archived_at=None).order_by("name").values_list("pk", "name")
    context = {
        "page": page,
        "rows": rows,
        "states": [("all", _("all states")), *Alert.State.choices],
        "environments": [(str(pk), name) for pk, name in environments],
    }
    return list_page(request, "alerts/alerts.html", context)


@login_required
@require_GET
def alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show an alert: its series, what else changed when it began, what people did about it."""
    row = get_object_or_404(named_alerts(), pk=alert_id)
    return render(request, "alerts/alert.html", {"page": alert_page(row)})


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
        _do(request.POST.get("action", ""), alert_id, cast(User, request.user), request.POST.get("comment", ""))
    except AlertError as error:
        messages.error(request, error.message)
    return redirect("web:alert", alert_id)


def _do(action: str, alert_id: int, user: User, comment: str) -> None:
    if action in _MOVES:
        _MOVES[action](alert_id=alert_id, by=user, comment=comment)
    elif action == "snooze":
        until = timezone.now() + timedelta(hours=_SNOOZE_HOURS)
        transitions.snooze(alert_id=alert_id, until=until, by=user, comment=comment)
    elif action == "assign":
        transitions.assign(alert_id=alert_id, assignee=user, by=user, comment=comment)
    else:
        transitions.remark(alert_id=alert_id, comment=comment, by=user)
