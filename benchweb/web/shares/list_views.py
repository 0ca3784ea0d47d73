"""All share links, for who looks after them: list, and end many at once."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_ids
from benchweb.sharing import selectors, services
from benchweb.sharing.models import Share
from benchweb.web.shared.lists import Column, list_page, listing, posted_back

COLUMNS = [
    Column(""),
    Column(gettext_noop("Shows")),
    Column(gettext_noop("Created"), "created_at"),
    Column(gettext_noop("Expires")),
    Column(gettext_noop("Opened"), "opened", numeric=True),
    Column(gettext_noop("Last opened")),
]


@needs(Permission.RUN)
@never_cache
@require_GET
def share_list(request: HttpRequest) -> HttpResponse:
    """List the links that stand, the newest first; with `?ended=1` the others."""
    is_ended = request.GET.get("ended") == "1"
    rows = selectors.shares_ended() if is_ended else selectors.shares_standing()
    page = listing(
        request, _of_user(rows, request.GET.get("user", "")), columns=COLUMNS, sort="-pk", filters=("user", "ended")
    )
    return list_page(request, "shares/share_list.html", {"page": page, "is_ended": is_ended})


@needs(Permission.ADMIN)
@require_POST
def shares_end(request: HttpRequest) -> HttpResponse:
    """Ask which links are to be ended; once confirmed, end them for good."""
    shares = list(selectors.shares_standing().filter(pk__in=row_ids(request.POST.getlist("share"))))
    if not shares:
        messages.warning(request, gettext("No link is selected: tick some in the first column."))
        return redirect(posted_back(request, "web:shares"))
    if "confirmed" not in request.POST:
        return render(request, "shares/shares_end.html", {"shares": shares, "back": reverse("web:shares")})
    for share in shares:
        services.share_revoke(share_id=share.pk)
    text = ngettext("{count} link is revoked.", "{count} links are revoked.", len(shares))
    messages.success(request, text.format(count=len(shares)))
    return redirect("web:shares")


def _of_user(rows: "QuerySet[Share, Share]", name: str) -> "QuerySet[Share, Share]":
    return rows.filter(created_by__username=name.strip()) if name.strip() else rows
