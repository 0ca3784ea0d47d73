"""The charts of an alert, as its page fetches them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.alerts.charts import alert_charts
from benchweb.regressions.models import Alert
from benchweb.web.shared.charts_answer import charts_answer
from benchweb.web.shared.zones import reader_zone


@needs(Permission.READ)
@require_GET
def alert_charts_json(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Return the chart specs of an alert: the series that names it around the change, then others."""
    alert = get_object_or_404(Alert, pk=alert_id)
    return charts_answer(alert_charts(alert, zone=reader_zone(request)))
