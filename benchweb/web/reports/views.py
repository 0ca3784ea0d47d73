"""Reports: list, page, Markdown, make, change, archive, restore."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.names import searched
from benchweb.reports.content import report_document
from benchweb.reports.models import Report
from benchweb.reports.selectors import reports
from benchweb.reports.services import ReportError, report_archive, report_change, report_create, report_restore
from benchweb.reports.templates import template_named
from benchweb.runs.models import OPEN_STATES
from benchweb.runs.selectors import runs_named
from benchweb.web.access.once import once
from benchweb.web.reports.forms import ReportForm
from benchweb.web.shared.archiving import archive_page
from benchweb.web.shared.document_answer import document_answer
from benchweb.web.shared.lists import Column, list_page, listing

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


@needs(Permission.READ)
@require_GET
def report_list(request: HttpRequest) -> HttpResponse:
    """List reports, the newest first."""
    is_archived = request.GET.get("archived") == "1"
    page = listing(
        request, _matching(request, is_archived=is_archived), columns=COLUMNS, sort="-pk", filters=("q", "archived")
    )
    rows = [{"report": row, "template": _(template_named(row.template).title)} for row in page.rows]
    return list_page(request, "reports/reports.html", {"page": page, "rows": rows, "archived": is_archived})


def _matching(request: HttpRequest, *, is_archived: bool) -> "QuerySet[Report, Report]":
    rows = reports(is_archived=is_archived)
    text = searched(request.GET.get("q", ""))
    return rows.filter(title__icontains=text) if text else rows


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


@needs(Permission.RUN)
@once
@require_http_methods(["GET", "POST"])
def report_new(request: HttpRequest) -> HttpResponse:
    """Make a report; the address may name its runs and template."""
    form = ReportForm(request.POST or None, initial={name: request.GET.get(name) for name in ("runs", "template")})
    if request.method == "POST" and form.is_valid():
        try:
            report = report_create(form.values(), user=cast(User, request.user))
            return redirect("web:report", report.pk)
        except ReportError as error:
            form.refuse(error.field, error.message)
    return _form_page(request, form, _("New report"), reverse("web:reports"))


@needs(Permission.RUN)
@require_http_methods(["GET", "POST"])
def report_edit(request: HttpRequest, report_id: int) -> HttpResponse:
    """Change a report."""
    report = get_object_or_404(Report, pk=report_id)
    form = ReportForm(request.POST) if request.method == "POST" else ReportForm.of(report)
    if request.method == "POST" and form.is_valid():
        try:
            report_change(report, form.values())
            return redirect("web:report", report.pk)
        except ReportError as error:
            form.refuse(error.field, error.message)
    return _form_page(
        request, form, _("Edit {name}").format(name=report.title), reverse("web:report", args=[report.pk])
    )


@needs(Permission.RUN)
@require_http_methods(["GET", "POST"])
def report_archive_page(request: HttpRequest, report_id: int) -> HttpResponse:
    """Ask, then archive a report."""
    report = get_object_or_404(Report, pk=report_id, archived_at=None)
    return archive_page(
        request,
        title=_("report {name}").format(name=report.title),
        losses=[_("It leaves the list. Its page, its runs and its share links stay.")],
        back=reverse("web:report", args=[report.pk]),
        done=reverse("web:reports"),
        undo=reverse("web:report_restore", args=[report.pk]),
        act=lambda: report_archive(report),
    )


@needs(Permission.RUN)
@require_POST
def report_restore_page(request: HttpRequest, report_id: int) -> HttpResponse:
    """Put an archived report on the list again."""
    report = get_object_or_404(Report, pk=report_id)
    report_restore(report)
    messages.success(request, _("Report {name} is restored.").format(name=report.title))
    return redirect("web:reports")


def _form_page(request: HttpRequest, form: ReportForm, title: str, back: str) -> HttpResponse:
    latest = runs_named().exclude(state__in=OPEN_STATES).order_by("-pk")[:_RUNS_OFFERED]
    context = {"form": form, "title": title, "back": back, "latest": latest}
    return render(request, "reports/form.html", context)
