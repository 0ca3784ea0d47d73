"""Reports: documents made of chosen runs."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest, StreamingHttpResponse
from django.urls import reverse
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.problems import invalid
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Created, Identifier, Item, Name
from benchweb.common.downloads import download
from benchweb.documents.markdown import document_markdown
from benchweb.reports.content import report_document
from benchweb.reports.models import Report
from benchweb.reports.selectors import reports, runs_of
from benchweb.reports.services import (
    LONGEST_SETTING,
    LONGEST_TEXT,
    MOST_MODES,
    MOST_RUNS,
    MOST_SETTINGS,
    ReportError,
    ReportValues,
    report_create,
)

router = Router(tags=["reports"])
Prose = Annotated[str, Field(max_length=LONGEST_TEXT)]
Setting = Annotated[str, Field(max_length=LONGEST_SETTING)]


class ReportBody(Body):
    """What an author sets; `runs` in the order of the report."""

    title: Name
    template: Literal["sizes", "methods", "modes", "baseline", "wan"]
    runs: Annotated[list[Identifier], Field(min_length=1, max_length=MOST_RUNS)]
    statistic: Literal["mean", "median"] = "mean"
    modes: Annotated[list[Name], Field(max_length=MOST_MODES)] = []
    chosen_settings: Annotated[list[Setting], Field(max_length=MOST_SETTINGS)] = []
    remaining: Prose = ""
    environment: Prose = ""
    method: Prose = ""
    conclusion: Prose = ""


class ReportCreated(Created):
    url: str


class ReportItem(ReportCreated):
    title: str
    template: str
    statistic: str
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class ReportTableItem(Item):
    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str]


class SectionItem(Item):
    key: str
    title: str
    text: str
    tables: list[ReportTableItem]


class ReportDetail(ReportItem):
    runs: list[int]
    modes: list[str]
    chosen_settings: list[str]
    remaining: str
    sections: list[SectionItem]


class ReportQuery(PageQuery):
    archived: bool = False


@router.get("/reports", response=Page[ReportItem], auth=READ)
def report_list(request: HttpRequest, query: Query[ReportQuery]) -> Page[ReportItem]:
    """List reports, newest first."""
    rows = reports(is_archived=query.archived)
    return page(request, query, rows, lambda row: ReportItem(**_fields(request, row)), newest_first=True)


@router.post("/reports", response={201: ReportCreated}, auth=RUN)
def report_add(request: HttpRequest, body: ReportBody) -> Status[ReportCreated]:
    """Make a report of chosen runs from a template."""
    try:
        report = report_create(ReportValues(**body.model_dump()), user=caller(request))
    except ReportError as error:
        raise invalid(error.field, error.message) from error
    return Status(201, ReportCreated(id=report.pk, url=_url(request, report)))


@router.get("/reports/{report_id}", response=ReportDetail, auth=READ)
def report_detail(request: HttpRequest, report_id: Identifier) -> ReportDetail:
    """Show a report with its tables as texts, as its runs are now."""
    report = row_or_404(Report.objects.all(), report_id)
    document = report_document(report)
    return ReportDetail(
        **_fields(request, report),
        runs=[run.pk for run in runs_of(report)],
        modes=report.modes,
        chosen_settings=report.chosen_settings,
        remaining=report.remaining,
        sections=[
            SectionItem(
                key=section.key,
                title=section.title,
                text=section.text,
                tables=[
                    ReportTableItem(
                        title=table.title,
                        columns=list(table.columns),
                        rows=[list(map(str, row)) for row in table.rows],
                        notes=list(table.notes),
                    )
                    for table in section.tables
                ],
            )
            for section in document.sections
        ],
    )


@router.get(
    "/reports/{report_id}/report.md",
    response={200: None},
    openapi_extra={"responses": {200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}}},
    auth=READ,
)
def report_file(request: HttpRequest, report_id: Identifier) -> StreamingHttpResponse:
    """Download a report as Markdown."""
    report = row_or_404(Report.objects.all(), report_id)
    parts = document_markdown(report_document(report), _url(request, report))
    return download(request, parts, media_type="text/markdown", file_name=f"report-{report_id}.md")


def _url(request: HttpRequest, report: Report) -> str:
    return request.build_absolute_uri(reverse("web:report", args=[report.pk]))


def _fields(request: HttpRequest, report: Report) -> dict[str, Any]:
    return {
        "id": report.pk,
        "url": _url(request, report),
        **{
            name: getattr(report, name)
            for name in ("title", "template", "statistic", "created_at", "updated_at", "archived_at")
        },
    }
