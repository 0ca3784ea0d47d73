"""The audit log: who did what, when, through what, from where, with values before and after."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.audit.selectors import AuditFilter, audit_entries
from benchweb.api.authentication import ADMIN
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.schemas import Identifier, Item, MomentText

router = Router(tags=["audit"])
Action = Literal["created", "changed", "deleted", "logged_in", "logged_out", "login_failed", "refused"]


class AuditQuery(PageQuery):
    """Filters; `first` is included, `last` is not."""

    user: Annotated[str, Field(max_length=150)] = ""
    action: Action | None = None
    via: Literal["page", "token", "system"] | None = None
    table: Annotated[str, Field(max_length=63, examples=["hosts_host"])] = ""
    object_id: Identifier | None = None
    first: MomentText | None = None
    last: MomentText | None = None


class AuditItem(Item):
    """One entry; `changes` is {column: [before, after]}, a secret or a long text being "…"."""

    id: int
    at: datetime
    action: str
    via: str
    user_id: int | None
    user_name: str
    token_id: int | None
    address: str
    table: str
    object_id: int | None
    object_name: str
    changes: dict[str, Any]


@router.get("/audit", response=Page[AuditItem], auth=ADMIN)
def audit_list(request: HttpRequest, query: Query[AuditQuery]) -> Page[AuditItem]:
    """List the entries of the audit log, the newest first."""
    wanted = AuditFilter(
        user=query.user,
        action=query.action or "",
        via=query.via or "",
        table=query.table,
        object_id=query.object_id,
        first=query.first,
        last=query.last,
    )
    return page(request, query, audit_entries(wanted), _item, newest_first=True)


def _item(entry: AuditEntry) -> AuditItem:
    return AuditItem(**{name: getattr(entry, name) for name in AuditItem.model_fields})
