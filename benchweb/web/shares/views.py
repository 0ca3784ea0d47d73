"""Share links of a run, for those who are logged in: make, list, revoke."""

from dataclasses import dataclass
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.runs.models import Run
from benchweb.runs.selectors import environments_of_run, runs_named
from benchweb.sharing import selectors, services
from benchweb.sharing.models import Share
from benchweb.site.values import is_allowed
from benchweb.web.access.once import once
from benchweb.web.shares.forms import ShareForm


@dataclass(frozen=True)
class ShareRow:
    """A share with its absolute link, empty when it can't be read any more or isn't for the reader."""

    share: Share
    link: str
    is_standing: bool
    # Why it shows nothing at the moment.
    pause: services.Pause | None
    is_hidden: bool


@needs(Permission.READ, post=Permission.RUN, within=environments_of_run)
@once
@never_cache
@require_http_methods(["GET", "POST"])
def run_shares(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the share links of a run; on POST make one. htmx gets the part that stands in the dialog."""
    run = get_object_or_404(runs_named(), pk=run_id)
    form = ShareForm(request.POST) if request.method == "POST" else ShareForm()
    made = None
    if request.method == "POST" and form.is_valid():
        try:
            made, _ = services.share_create(
                run=run,
                user=cast(User, request.user),
                expires_at=form.expires_at,
                anonymise=form.cleaned_data["anonymise"],
                password=form.cleaned_data["password"],
            )
            form = ShareForm()
        except services.ShareError as error:
            form.refuse(error.field, error.message)
    return _share_page(request, run, form, made)


@needs(Permission.RUN, within=selectors.environments_of_share)
@never_cache
@require_POST
def share_revoke(request: HttpRequest, share_id: int) -> HttpResponse:
    """Revoke a link; what it showed is deleted."""
    share = get_object_or_404(selectors.shares(), pk=share_id)
    services.share_revoke(share_id=share.pk)
    run = get_object_or_404(runs_named(), pk=share.run_id)
    return _share_page(request, run, ShareForm(), None)


def _share_page(request: HttpRequest, run: Run, form: ShareForm, made: Share | None) -> HttpResponse:
    context = {
        "run": run,
        "form": form,
        "made": made.pk if made else 0,
        "forbidden": forbidden_words(),
        "rows": [share_row(request, share) for share in selectors.shares(run=run.pk)],
    }
    status = 201 if made else 200
    if request.htmx and not request.htmx.boosted:  # type: ignore[attr-defined]
        return render(request, "shares/partials/shares.html", context, status=status)
    return render(request, "shares/shares.html", context, status=status)


def forbidden_words() -> str:
    """Say why no link can be made here at all; empty where links can be."""
    return "" if is_allowed("SHARE_LINKS") else str(services.Pause.LINKS.label)


def share_row(request: HttpRequest, share: Share) -> ShareRow:
    """Return a share as the lists of links show it."""
    is_standing = selectors.is_standing(share)
    is_hidden = not selectors.may_see_link(access_of(request.user), share)
    path = "" if is_hidden else selectors.share_path(share)
    link = request.build_absolute_uri(path) if path else ""
    return ShareRow(share, link, is_standing, services.pause_of(share) if is_standing else None, is_hidden)
