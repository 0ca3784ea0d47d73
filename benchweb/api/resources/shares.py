"""Share links, for people without a log-in: a frozen run, or a view of the dashboard, frozen or live."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.bounds import share_ends
from benchweb.api.authentication import READ, RUN, caller, caller_token
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.problems import invalid
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Created, Identifier, MomentText
from benchweb.common.addresses import path_within, site_path
from benchweb.runs.selectors import runs_named
from benchweb.schedules.timing.localtime import zone_keys
from benchweb.sharing import selectors, services
from benchweb.sharing.frozen_views import LONGEST_PATH, pages_at
from benchweb.sharing.models import Share

router = Router(tags=["shares"])
_NO_VIEW = (
    "There is no view at this path that can be shared: it is a page of history, matrix, compare, a run, an alert, a "
    "pair or a schedule, such as /history?pair=3&over=30d."
)


class ShareBody(Body):
    """Either a run, or the path of a view with its query; `is_live` and `time_zone` are a view's.

    Without `expires_at` the link expires after the days of the dashboard's setting, with null never. With a `password`
    the link alone opens nothing.
    """

    run: Identifier | None = None
    path: Annotated[str, Field(max_length=LONGEST_PATH, examples=["/history?pair=3&over=30d"])] = ""
    is_live: bool = False
    time_zone: Annotated[str, Field(max_length=60, examples=["Europe/Berlin"])] = ""
    expires_at: MomentText | None = None
    anonymise: bool = False
    password: Annotated[str, Field(max_length=200)] = ""


class ShareQuery(PageQuery):
    run: Identifier | None = None
    path: Annotated[str, Field(max_length=LONGEST_PATH)] = ""


class ShareCreated(Created):
    """`url` is the path on this dashboard, `link` the same with its address before it, to be sent.

    Both are empty for who may not make such a link.
    """

    url: str
    link: str


class ShareItem(ShareCreated):
    """A link to a run, or to a view of the dashboard at `path`.

    `paused` says why one that stands shows nothing: the site forbids "links", "live" or "endless" ones, or its "maker"
    may make it no more; else it is empty.
    """

    run: int | None
    path: str
    title: str
    is_live: bool
    anonymise: bool
    has_password: bool
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    paused: str
    opened: int
    last_opened_at: datetime | None


@router.get("/shares", response=Page[ShareItem], auth=READ)
def share_list(request: HttpRequest, query: Query[ShareQuery]) -> Page[ShareItem]:
    """List share links, newest first, with how often each was opened; revoked and expired ones too."""
    rows = selectors.shares(run=query.run, path=path_within(query.path))
    return page(request, query, rows, lambda share: _item(request, share), newest_first=True)


@router.post("/shares", response={201: ShareCreated}, auth=RUN.checked_by_view())
def share_create(request: HttpRequest, body: ShareBody) -> Status[ShareCreated]:
    """Make a link that needs no log-in: to a run or a view as it is now, or to a view as it is when it is opened.

    Views are pages of history, matrix, compare, a run, an alert, a pair or a schedule.
    """
    share, token = _view_share(request, body) if body.run is None else _run_share(request, body, body.run)
    path = site_path(f"/s/{token}")
    return Status(201, ShareCreated(id=share.pk, url=path, link=request.build_absolute_uri(path)))


def _run_share(request: HttpRequest, body: ShareBody, run_id: int) -> tuple[Share, str]:
    if body.path:
        raise invalid("path", "A link shows a run or a view: leave out the path or the run.")
    if body.is_live:
        raise invalid("is_live", "A link to a run is always frozen; a view may be live.")
    run = row_named(runs_named(), run_id, "run")
    access_of(caller(request)).demand(Permission.RUN, [run.pair.environment_id])
    return services.share_create(
        run=run,
        user=caller(request),
        expires_at=_ends(request, body),
        anonymise=body.anonymise,
        password=body.password,
    )


def _ends(request: HttpRequest, body: ShareBody) -> datetime | None:
    is_chosen = "expires_at" in body.model_fields_set
    wanted = body.expires_at if is_chosen else services.default_expiry()
    return share_ends(caller_token(request), wanted, is_chosen=is_chosen)


def _view_share(request: HttpRequest, body: ShareBody) -> tuple[Share, str]:
    access_of(caller(request)).demand(Permission.RUN, [])
    if not body.path:
        raise invalid("run", "A link shows a run or a view: give the run's id, or the path of the view.")
    if body.time_zone and body.time_zone not in zone_keys():
        raise invalid("time_zone", "There is no such time zone; one is named such as Europe/Berlin.")
    path = path_within(body.path)
    try:
        pages = pages_at(path, body.time_zone)
    except ValueError:
        raise invalid("path", _NO_VIEW) from None
    return services.view_share_create(
        path=path,
        zone=body.time_zone,
        pages=pages,
        user=caller(request),
        expires_at=_ends(request, body),
        anonymise=body.anonymise,
        is_live=body.is_live,
        password=body.password,
    )


@router.get("/shares/{share_id}", response=ShareItem, auth=READ)
def share_detail(request: HttpRequest, share_id: Identifier) -> ShareItem:
    """Show one share link."""
    return _item(request, row_or_404(selectors.shares(), share_id))


@router.delete("/shares/{share_id}", response={204: None}, auth=RUN.within(selectors.environments_of_share))
def share_revoke(request: HttpRequest, share_id: Identifier) -> Status[None]:
    """Revoke a link for good: whoever opens it is told so, and what it showed is deleted. Again is no error."""
    services.share_revoke(share_id=row_or_404(selectors.shares(), share_id).pk)
    return Status(204, None)


def _item(request: HttpRequest, share: Share) -> ShareItem:
    path = selectors.share_path(share) if selectors.may_see_link(access_of(caller(request)), share) else ""
    fields: dict[str, Any] = {
        name: getattr(share, name)
        for name in (
            "path",
            "title",
            "is_live",
            "anonymise",
            "created_at",
            "expires_at",
            "revoked_at",
            "opened",
            "last_opened_at",
        )
    }
    link = request.build_absolute_uri(path) if path else ""
    fields["has_password"] = bool(share.password)
    fields["paused"] = (selectors.is_standing(share) and services.pause_of(share)) or ""
    return ShareItem(id=share.pk, run=share.run_id, url=path, link=link, **fields)
