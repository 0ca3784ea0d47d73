"""Read reports."""

from django.db.models import Count, QuerySet

from benchweb.reports.models import Report
from benchweb.runs.models import Run
from benchweb.runs.selectors import runs_named


def reports(*, is_archived: bool = False) -> "QuerySet[Report, Report]":
    """Return reports in use, or archived ones, newest first, with how many runs each has."""
    rows = Report.objects.select_related("created_by").annotate(run_count=Count("entries"))
    return rows.filter(archived_at__isnull=not is_archived).order_by("-pk")


def runs_of(report: Report) -> list[Run]:
    """Return a report's runs in its author's order, with all that names them; one query."""
    return list(runs_named().filter(report_entries__report=report).order_by("report_entries__position"))
