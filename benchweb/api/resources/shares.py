"""Share links: a frozen run for people without a log-in."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import caller
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Created, Identifier, MomentText
from benchweb.runs.selectors import runs_named
from benchweb.sharing import selectors, services
from benchweb.sharing.models import Share

router = Router(tags=["shares"])


class ShareBody(Body):
    run: Identifier
    expires_at: MomentText | None = None
    anonymise: bool = False


class ShareQuery(PageQuery):
    run: Identifier | None = None


class ShareCreated(Created):
    """`url` is the path on this dashboard, `link` the same with its address before it, to be sent."""

    url: str
    link: str


class ShareItem(ShareCreated):
    run: int | None
    anonymise: bool
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    opened: int
    last_opened_at: datetime | None


@router.get("/shares", response=Page[ShareItem])
def share_list(request: HttpRequest, query: Query[ShareQuery]) -> Page[ShareItem]:
    """List share links, newest first, with how often each was opened; revoked and expired ones too."""
    rows = selectors.shares(run=query.run)
    return page(request, query, rows, lambda share: _item(request, share), newest_first=True)


@router.post("/shares", response={201: ShareCreated})
def share_create(request: HttpRequest, body: ShareBody) -> Status[ShareCreated]:
    """Freeze a run as it is now and make a link to it that needs no log-in."""
    run = row_named(runs_named(), body.run, "run")
    user = caller(request)
    share, token = services.share_create(run=run, user=user, expires_at=body.expires_at, anonymise=body.anonymise)
    path = f"/s/{token}"
    return Status(201, ShareCreated(id=share.pk, url=path, link=request.build_absolute_uri(path)))


@router.get("/shares/{share_id}", response=ShareItem)
def share_detail(request: HttpRequest, share_id: Identifier) -> ShareItem:
    """Show one share link."""
    return _item(request, row_or_404(selectors.shares(), share_id))


@router.delete("/shares/{share_id}", response={204: None})
def share_revoke(request: HttpRequest, share_id: Identifier) -> Status[None]:
    """Revoke a link for good: whoever opens it is told so, and what it showed is deleted. Again is no error."""
    services.share_revoke(share_id=row_or_404(selectors.shares(), share_id).pk)
    return Status(204, None)


def _item(request: HttpRequest, share: Share) -> ShareItem:
    path = selectors.share_path(share)
    fields: dict[str, Any] = {
        name: getattr(share, name)
        for name in ("anonymise", "created_at", "expires_at", "revoked_at", "opened", "last_opened_at")
    }
    link = request.build_absolute_uri(path) if path else ""
    return ShareItem(id=share.pk, run=share.run_id, url=path, link=link, **fields)
