"""Which document stands at an address of the dashboard: of a history, a matrix, a comparison, a run, an alert …"""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.translation import get_language

from benchweb.common.addresses import path_within, site_path
from benchweb.dashboards.models import Dashboard
from benchweb.documents.document import Document
from benchweb.hosts.models import Pair
from benchweb.regressions.selectors import alerts
from benchweb.reports.content import report_document
from benchweb.reports.models import Report
from benchweb.results.latest_medians import matrix_environments
from benchweb.runs.selectors import run_detail
from benchweb.schedules.models import Schedule
from benchweb.sharing.frozen_views import LONGEST_PATH, NotShareable
from benchweb.web.alerts.documents import alert_document, morning_document
from benchweb.web.alerts.morning import morning_of
from benchweb.web.compare.document import compared_document
from benchweb.web.compare.query import compare_query
from benchweb.web.dashboards.document import dashboard_document
from benchweb.web.history.document import history_document
from benchweb.web.history.page import history_view
from benchweb.web.matrix.document import matrix_document
from benchweb.web.matrix.page import filled_matrix
from benchweb.web.matrix.query import matrix_query
from benchweb.web.pairs.document import pair_document
from benchweb.web.runs.document import run_document
from benchweb.web.schedules.document import schedule_document
from benchweb.web.shared.zones import COOKIE, reader_zone


def built(path: str, zone: str, language: str) -> Document:
    """Make the view at an address of the dashboard as a reader in a zone sees it; raise NotShareable."""
    parts = urlsplit(path)
    own_path = path_within(parts.path)
    try:
        match = resolve(own_path)
    except Resolver404 as error:
        raise NotShareable(path) from error
    document = _DOCUMENTS.get(match.url_name or "")
    if document is None or parts.scheme or parts.netloc or len(path) > LONGEST_PATH:
        raise NotShareable(path)
    request = HttpRequest()
    request.method, request.path = "GET", site_path(own_path)
    request.GET = QueryDict(parts.query)
    request.COOKIES = {COOKIE: zone}
    with translation.override(language):
        return document(request, **match.kwargs)


def _matrix(request: HttpRequest) -> Document:
    return matrix_document(filled_matrix(matrix_query(request, matrix_environments())))


def _alert(request: HttpRequest, alert_id: int) -> Document:
    row = alerts().filter(pk=alert_id).first()
    if row is None:
        raise NotShareable(alert_id)
    return alert_document(row, reader_zone(request))


def _pair(_request: HttpRequest, pair_id: int) -> Document:
    pair = Pair.objects.select_related("source__host", "sink__host", "environment").filter(pk=pair_id).first()
    if pair is None:
        raise NotShareable(pair_id)
    return pair_document(pair)


def _run(_request: HttpRequest, run_id: int) -> Document:
    run = run_detail(run_id)
    if run is None:
        raise NotShareable(run_id)
    return run_document(run)


def _schedule(request: HttpRequest, schedule_id: int) -> Document:
    schedule = Schedule.objects.select_related("plan").filter(pk=schedule_id).first()
    if schedule is None:
        raise NotShareable(schedule_id)
    return schedule_document(schedule, reader_zone(request))


def _report(_request: HttpRequest, report_id: int) -> Document:
    report = Report.objects.filter(pk=report_id).first()
    if report is None:
        raise NotShareable(report_id)
    return report_document(report)


def _dashboard(request: HttpRequest, dashboard_id: int) -> Document:
    dashboard = Dashboard.objects.filter(pk=dashboard_id).first()
    if dashboard is None:
        raise NotShareable(dashboard_id)
    return dashboard_document(dashboard, reader_zone(request).key, get_language() or "en")


# By the name of the page's address.
_DOCUMENTS: dict[str, Callable[..., Document]] = {
    "history": lambda request: history_document(history_view(request)),
    "matrix": _matrix,
    "compare": lambda request: compared_document(compare_query(request.GET, reader_zone(request))),
    "run": _run,
    "alert": _alert,
    "morning": lambda request: morning_document(morning_of(request.GET, reader_zone(request))),
    "pair": _pair,
    "schedule": _schedule,
    "report": _report,
    "dashboard": _dashboard,
}
