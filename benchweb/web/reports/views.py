"""Reports: list, page, Markdown, make, change, archive, restore."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.names import searched
from benchweb.reports.content import report_document
from benchweb.reports.models import Report
from benchweb.reports.selectors import reports
from benchweb.reports.services import report_archive, report_change, report_create, report_restore
from benchweb.reports.templates import template_named
from benchweb.runs.models import OPEN_STATES
from benchweb.runs.selectors import runs_named
from benchweb.web.reports.forms import ReportForm
from benchweb.web.shared.document_answer import document_answer
from benchweb.web.shared.lists import Column
from benchweb.web.shared.plain_pages import PlainFormPages

COLUMNS = [
    Column(gettext_noop("Report"), "title"),
    Column(gettext_noop("Template")),
    Column(gettext_noop("Runs"), numeric=True),
    Column(gettext_noop("Author")),
    Column(gettext_noop("Changed"), "updated_at"),
    Column(gettext_noop("Action"), numeric=True),
]
# Of the latest runs beside the form.
_RUNS_OFFERED = 15


class ReportPages(PlainFormPages[Report, ReportForm, ReportForm]):
    """Reports, the newest first; the address of a new one may name its runs and template."""

    model, page_name, has_archived_pages = Report, "report", True
    name, path, list_name = "report", "reports", "reports"
    permission = Permission.RUN
    noun = gettext_lazy("report {name}")
    restored = gettext_lazy("Report {name} is restored.")
    list_template, columns, sort = "reports/reports.html", COLUMNS, "-pk"
    new_form = change_form = ReportForm
    form_template, add_title = "reports/form.html", gettext_lazy("New report")

    def matching(self, query: QueryDict) -> "QuerySet[Report]":
        rows, text = reports(is_archived=query.get("archived") == "1"), searched(query.get("q", ""))
        return rows.filter(title__icontains=text) if text else rows

    def list_context(self, request: HttpRequest, rows: Sequence[Report]) -> dict[str, Any]:
        return {"rows": [{"report": row, "template": _(template_named(row.template).title)} for row in rows]}

    def row_name(self, row: Report) -> str:
        return row.title

    def restored_url(self, row: Report) -> str:
        return self.list_url()

    def losses(self, row: Report) -> list[str]:
        return [_("It leaves the list. Its page, its runs and its share links stay.")]

    def archive(self, row: Report, by: User) -> bool:
        return report_archive(row)

    def restore(self, row: Report, request: HttpRequest) -> bool:
        """Put an archived report on the list again."""
        return report_restore(row)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        return {name: request.GET.get(name) for name in ("runs", "template")}

    def create(self, form: ReportForm, request: HttpRequest) -> Report:
        return report_create(form.values(), user=cast(User, request.user))

    def update(self, row: Report, form: ReportForm) -> None:
        report_change(row, form.values())

    def form_context(self, row: Report | None) -> dict[str, Any]:
        """Return the latest runs, for their numbers."""
        return {"latest": runs_named().exclude(state__in=OPEN_STATES).order_by("-pk")[:_RUNS_OFFERED]}


@needs(Permission.READ)
@require_GET
def report_page(request: HttpRequest, report_id: int) -> HttpResponse:
    """Show a report, as its runs are now."""
    report = get_object_or_404(Report.objects.select_related("created_by"), pk=report_id)
    document = report_document(report)
    return render(request, "reports/report.html", {"report": report, "document": document})


@needs(Permission.READ)
@require_GET
def report_markdown_file(request: HttpRequest, report_id: int) -> StreamingHttpResponse:
    """Return a report as Markdown, the same file as the API's."""
    report = get_object_or_404(Report, pk=report_id)
    address = request.build_absolute_uri(reverse("web:report", args=[report.pk]))
    return document_answer(request, report_document(report), "md", address=address, name=f"report-{report.pk}")
