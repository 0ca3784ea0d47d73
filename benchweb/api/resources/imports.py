"""Imports: other tools' outputs as runs of a pair."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.api.problems import Problem, invalid
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Created, Identifier, Item, MomentText, run_url
from benchweb.catalog.reasons import reason_items
from benchweb.catalog.tool_reasons import tool_reason
from benchweb.common.exchange import check_wanted
from benchweb.hosts.models import Pair
from benchweb.imports.models import Import
from benchweb.imports.services import ImportPreview, ImportRefused, import_results, preview
from benchweb.imports.trials import error_of
from benchweb.toolformats.plain_text import still_wanted
from benchweb.toolformats.readings import Reading, ToolFormatError

router = Router(tags=["imports"])
# An answer names so many of what was read; a text of more is imported whole all the same.
MOST_NAMED = 200


class ImportBody(Body):
    pair: Identifier
    text: Annotated[str, Field(min_length=1, max_length=MAXIMUM_BODY_BYTES)]
    at: MomentText | None = None
    file_name: Annotated[str, Field(max_length=200)] = ""
    is_judged: bool = False


class ImportFlags(Schema):
    dry_run: bool = False


class ImportQuery(PageQuery):
    pair: Identifier | None = None


class FigureItem(Item):
    metric: str
    value: float
    unit: str
    digits: int
    part: str


class ReadingItem(Item):
    """One result that was read: imported as a finished trial, as a failed one, or left out for `reason`."""

    tool: str
    test: str
    kind: str | None
    first_line: int
    last_line: int
    parameters: dict[str, Any]
    figures: list[FigureItem]
    remarks: list[str]
    state: Literal["finished", "failed", "left_out"]
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None


class UnreadItem(Item):
    line: int
    text: str
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None


class PreviewItem(Item):
    """What a text holds: the first results and lines that weren't understood, and how many results are imported."""

    importable: int
    readings: list[ReadingItem]
    unread: list[UnreadItem]


class ImportCreated(Created):
    run: int
    url: str


class ImportItem(ImportCreated):
    pair: int
    tools: list[str]
    file_name: str
    created_at: datetime
    at: datetime | None


@router.get("/imports", response=Page[ImportItem], auth=READ)
def import_list(request: HttpRequest, query: Query[ImportQuery]) -> Page[ImportItem]:
    """List imports, newest first."""
    rows = Import.objects.select_related("run")
    if query.pair is not None:
        rows = rows.filter(pair=query.pair)
    return page(request, query, rows, lambda row: _item(request, row), newest_first=True)


@router.post("/imports", response={200: PreviewItem, 201: ImportCreated}, auth=RUN.checked_by_view())
def import_create(
    request: HttpRequest, body: ImportBody, flags: Query[ImportFlags]
) -> Status[PreviewItem] | Status[ImportCreated]:
    """Import a text on a pair as a run; with `dry_run=true` only say what it holds. The same text twice is a 409."""
    pair = row_named(Pair.objects.all(), body.pair, "pair")
    try:
        # An import goes to its end, also where its sender has left.
        read = preview(body.text.encode(), partial(check_wanted, request) if flags.dry_run else still_wanted)
        if flags.dry_run:
            return Status(200, _preview(read))
        made = import_results(
            read, pair=pair, at=body.at, file_name=body.file_name, user=caller(request), is_judged=body.is_judged
        )
    except ToolFormatError as error:
        raise invalid("text", str(error)) from error
    except ImportRefused as error:
        if error.existing:
            raise Problem(409, str(error), other_id=error.existing.pk) from error
        raise invalid("text", str(error)) from error
    return Status(201, ImportCreated(id=made.pk, run=made.run_id, url=run_url(request, made.run_id)))


@router.get("/imports/{import_id}", response=ImportItem, auth=READ)
def import_detail(request: HttpRequest, import_id: Identifier) -> ImportItem:
    """Show one import."""
    return _item(request, row_or_404(Import.objects.select_related("run"), import_id))


def _item(request: HttpRequest, row: Import) -> ImportItem:
    return ImportItem(
        id=row.pk,
        run=row.run_id,
        url=run_url(request, row.run_id),
        pair=row.pair_id,
        tools=row.tools,
        file_name=row.file_name,
        created_at=row.created_at,
        at=row.run.started_at,
    )


def _preview(read: ImportPreview) -> PreviewItem:
    reasons = {id(unusable.reading): unusable.reason for unusable in read.unusable}
    return PreviewItem(
        importable=len(read.trials),
        readings=[
            _reading_item(reading, reasons.get(id(reading), "")) for reading in read.document.readings[:MOST_NAMED]
        ],
        unread=[
            UnreadItem(line=unread.line, text=unread.text, **reason_items("reason", tool_reason(unread.reason)))
            for unread in read.document.unread
        ],
    )


def _reading_item(reading: Reading, left_out: str) -> ReadingItem:
    error = error_of(reading)
    return ReadingItem(
        tool=reading.tool,
        test=reading.test,
        kind=reading.kind,
        first_line=reading.lines.first,
        last_line=reading.lines.last,
        parameters=dict(reading.parameters),
        figures=[
            FigureItem(
                metric=figure.metric, value=figure.value, unit=figure.unit, digits=figure.digits, part=figure.part
            )
            for figure in reading.figures[:MOST_NAMED]
        ],
        remarks=reading.remarks,
        state="left_out" if left_out else "failed" if error else "finished",
        **reason_items("reason", left_out or error),
    )
