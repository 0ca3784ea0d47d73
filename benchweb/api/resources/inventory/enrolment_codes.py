"""Tickets of hosts, as the codes of enrolment that they are: who issued each, until when, and what it added."""

from datetime import datetime

from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import WRITE
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier, Item
from benchweb.hosts.models import Enrolment
from benchweb.hosts.tickets import ticket_revoke, tickets_listed, tickets_open

router = Router(tags=["hosts"])


class EnrolmentCodeQuery(PageQuery):
    is_open: bool | None = None


class EnrolmentCodeItem(Item):
    """A ticket without its text; `endpoint` is the one that it is for, or that was added by it at `added_at`."""

    id: int
    state: str
    issued_by: int | None
    token: int | None
    issued_at: datetime
    ends_at: datetime
    revoked_at: datetime | None
    endpoint: int | None
    host: int | None
    # What the host that used it calls itself.
    host_name: str
    claimed_at: datetime | None
    added_at: datetime | None
    fault: str


@router.get("/enrolment-codes", response=Page[EnrolmentCodeItem], auth=WRITE)
def enrolment_code_list(request: HttpRequest, query: Query[EnrolmentCodeQuery]) -> Page[EnrolmentCodeItem]:
    """List tickets, the newest first, without their texts. Filter `is_open`."""
    rows = tickets_listed()
    if query.is_open is not None:
        are_open = tickets_open().values("pk")
        rows = rows.filter(pk__in=are_open) if query.is_open else rows.exclude(pk__in=are_open)
    return page(request, query, rows, _item, newest_first=True)


@router.get("/enrolment-codes/{code_id}", response=EnrolmentCodeItem, auth=WRITE)
def enrolment_code_detail(request: HttpRequest, code_id: Identifier) -> EnrolmentCodeItem:
    """Show a ticket, without its text."""
    return _item(row_or_404(tickets_listed(), code_id))


@router.delete("/enrolment-codes/{code_id}", response={204: None}, auth=WRITE)
def enrolment_code_revoke(request: HttpRequest, code_id: Identifier) -> Status[None]:
    """Make a ticket void. For one that is used or over this is no error, and changes nothing."""
    ticket_revoke(ticket_id=row_or_404(tickets_listed(), code_id).pk)
    return Status(204, None)


def _item(row: Enrolment) -> EnrolmentCodeItem:
    return EnrolmentCodeItem(
        id=row.pk,
        state=row.state,
        issued_by=row.issued_by_id,
        token=row.token_id,
        issued_at=row.issued_at,
        ends_at=row.expires_at,
        revoked_at=row.revoked_at,
        endpoint=row.endpoint_id,
        host=row.endpoint.host_id if row.endpoint else None,
        host_name=row.host_name,
        claimed_at=row.claimed_at,
        added_at=row.added_at,
        fault=row.fault,
    )
