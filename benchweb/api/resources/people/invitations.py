"""Invitations: links that are good once, for a new account or for the password of one that stands."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.accounts.login import invitations
from benchweb.accounts.models import ApiToken, Invitation, Team
from benchweb.accounts.roles.bounds import demand_no_admin_link, link_lasts
from benchweb.accounts.roles.service_accounts import people
from benchweb.api.authentication import ADMIN, caller, caller_token
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.problems import invalid
from benchweb.api.resources.people.accounts import RoleName, TeamIds
from benchweb.api.resources.people.users import MailAddress
from benchweb.api.rows import row_named, row_or_404, rows_named
from benchweb.api.schemas import Body, Identifier, Item, MomentText
from benchweb.common.names import searched
from benchweb.site.addresses import public_address

router = Router(tags=["people"])
_USUAL, _LONGEST = timedelta(days=7), timedelta(days=30)


class InvitationBody(Body):
    """For a new account with `role` and `teams`; with `user` instead for the password of one that stands.

    With an `email` the link is mailed there, where the dashboard has a mail server. Without `expires_at` it is good for
    seven days, and for thirty at most.
    """

    user: Identifier | None = None
    email: MailAddress = ""
    role: RoleName | None = None
    teams: TeamIds = []
    expires_at: MomentText | None = None


class InvitationQuery(PageQuery):
    email: str = ""
    is_open: bool | None = None


class InvitationItem(Item):
    """`created_by` and `used_by` are ids of users; a link that is used, revoked or expired is void."""

    id: int
    user: int | None
    email: str
    role: str | None
    teams: list[int]
    created_by: int
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    used_by: int | None
    revoked_at: datetime | None


class InvitationCreated(InvitationItem):
    """`link` is answered this once: only its digest is stored."""

    link: str
    is_mailed: bool


@router.get("/invitations", response=Page[InvitationItem], auth=ADMIN)
def invitation_list(request: HttpRequest, query: Query[InvitationQuery]) -> Page[InvitationItem]:
    """List invitations, the newest first, without their links. Filters `email`, `is_open`."""
    return page(request, query, _found(query), _item, newest_first=True)


@router.post("/invitations", response={201: InvitationCreated}, auth=ADMIN)
def invitation_create(request: HttpRequest, body: InvitationBody) -> Status[InvitationCreated]:
    """Make a link, which is good only while the caller is an admin, and never for longer than the caller's token."""
    user, teams, token = _user(body), rows_named(Team.objects.all(), body.teams, "teams"), caller_token(request)
    demand_no_admin_link(token, role=body.role or "", teams=teams, user=user)
    invitation, secret = invitations.invitation_create(
        by=caller(request),
        lasts=_lasts(token, body.expires_at),
        email=body.email or (user.email if user else ""),
        role=body.role or "",
        team_ids=[team.pk for team in teams],
        user=user,
    )
    link = public_address(invitations.invitation_path(secret), request)
    is_mailed = invitations.invitation_mail(invitation=invitation, token=secret)
    fields = _item(invitation).model_dump()
    return Status(201, InvitationCreated(**fields, link=link, is_mailed=is_mailed))


@router.get("/invitations/{invitation_id}", response=InvitationItem, auth=ADMIN)
def invitation_detail(request: HttpRequest, invitation_id: Identifier) -> InvitationItem:
    """Show an invitation, without its link."""
    return _item(row_or_404(Invitation.objects.all(), invitation_id))


@router.delete("/invitations/{invitation_id}", response={204: None}, auth=ADMIN)
def invitation_revoke(request: HttpRequest, invitation_id: Identifier) -> Status[None]:
    """Make a link void. For one that is void already this is no error."""
    invitations.invitation_revoke(invitation_id=row_or_404(Invitation.objects.all(), invitation_id).pk)
    return Status(204, None)


def _found(query: InvitationQuery) -> "QuerySet[Invitation, Invitation]":
    rows = Invitation.objects.all()
    if query.email:
        rows = rows.filter(email__iexact=searched(query.email))
    if query.is_open is None:
        return rows
    are_open = invitations.open_invitations().values("pk")
    return rows.filter(pk__in=are_open) if query.is_open else rows.exclude(pk__in=are_open)


def _user(body: InvitationBody) -> User | None:
    if body.user is None:
        return None
    if body.role or body.teams:
        raise invalid(
            "role" if body.role else "teams", "The account stands: PATCH /users/ID changes its role and teams."
        )
    return row_named(people().filter(is_active=True), body.user, "user")


def _lasts(token: ApiToken, expires_at: datetime | None) -> timedelta:
    lasts = link_lasts(token, expires_at, usual=_USUAL)
    if not timedelta(0) < lasts <= _LONGEST:
        raise invalid("expires_at", "A link is good until a time within the next 30 days.")
    return lasts


def _item(row: Invitation) -> InvitationItem:
    names: Sequence[str] = ("email", "created_at", "expires_at", "used_at", "revoked_at")
    return InvitationItem(
        id=row.pk,
        user=row.user_id,
        role=row.role or None,
        teams=row.team_ids,
        created_by=row.created_by_id,
        used_by=row.used_by_id,
        **{name: getattr(row, name) for name in names},
    )
