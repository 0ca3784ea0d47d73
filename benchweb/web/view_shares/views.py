"""Share links of views, for those who are logged in; and what every share link opens, a run's too."""

from typing import cast
from urllib.parse import unquote

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.addresses import path_within
from benchweb.documents.document import Document
from benchweb.documents.json_file import document_of
from benchweb.sharing.frozen_views import NotShareable, hidden_names, pages_at
from benchweb.sharing.live import live_view
from benchweb.sharing.models import Share
from benchweb.sharing.selectors import OpenedShare, shares
from benchweb.sharing.services import ShareError, share_revoke, view_share_create
from benchweb.web.access.once import once
from benchweb.web.runs.badge import badge_svg
from benchweb.web.shared.document_answer import FileEnding, document_answer
from benchweb.web.shared.zones import COOKIE
from benchweb.web.shares.shared_views import run_badge, run_embed, run_file, run_page, shared
from benchweb.web.shares.views import forbidden_words, share_row
from benchweb.web.view_shares.building import built
from benchweb.web.view_shares.forms import ViewShareForm

_MOST_LISTED = 50
# After so long a view is there that was being made.
_SECONDS_OF_MAKING = 5


@needs(Permission.READ, post=Permission.RUN)
@once
@never_cache
@require_http_methods(["GET", "POST"])
def view_shares(request: HttpRequest) -> HttpResponse:
    """Show the share links of a view; on POST make one, or revoke one."""
    path = path_within(request.POST.get("path", "") or request.GET.get("path", ""))
    form = ViewShareForm(request.POST if request.method == "POST" and "revoke" not in request.POST else None)
    made = 0
    try:
        if request.method == "POST" and "revoke" in request.POST:
            row = get_object_or_404(Share.objects.filter(path=path), pk=request.POST["revoke"])
            share_revoke(share_id=row.pk)
        elif form.is_bound and form.is_valid():
            try:
                made = _made(request, path, form).pk
                form = ViewShareForm()
            except ShareError as error:
                form.refuse(error.field, error.message)
        title = built(path, reader_zone_name(request), get_language() or "en").title
    except (NotShareable, ValueError) as error:
        raise Http404(_("There is no view at this address that can be shared.")) from error
    rows = [share_row(request, share) for share in shares(path=path)[:_MOST_LISTED]]
    context = {"path": path, "title": title, "form": form, "made": made, "rows": rows, "forbidden": forbidden_words()}
    return render(request, "view_shares/view_shares.html", context, status=201 if made else 200)


def _made(request: HttpRequest, path: str, form: ViewShareForm) -> Share:
    zone = reader_zone_name(request)
    share, _token = view_share_create(
        path=path,
        zone=zone,
        pages=pages_at(path, zone),
        user=cast(User, request.user),
        expires_at=form.expires_at,
        anonymise=form.cleaned_data["anonymise"],
        is_live=form.cleaned_data["shows"] == "live",
        password=form.cleaned_data["password"],
    )
    return share


def reader_zone_name(request: HttpRequest) -> str:
    """Return the time zone that the reader's browser is in, as it says."""
    return unquote(request.COOKIES.get(COOKIE, ""))[:60]


@shared(counted=True)
def shared_page(request: HttpRequest, opened: OpenedShare) -> HttpResponse:
    """Show the run or the view of a link."""
    if not opened.share.path:
        return run_page(request, opened)
    view = _view(opened)
    if view is None:
        return _being_made(request, opened)
    return render(request, "view_shares/shared_view.html", {"share": opened.share, "view": view})


@shared(counted=True, framed=True)
def shared_embed(request: HttpRequest, opened: OpenedShare) -> HttpResponse:
    """Show one chart of a link and nothing else."""
    if not opened.share.path:
        return run_embed(request, opened)
    view = _view(opened)
    if view is None:
        return _being_made(request, opened)
    requested = request.GET.get("chart", "")
    charts = [chart for chart in view.charts if not requested or chart.id == requested][:1]
    context = {"share": opened.share, "view": view, "charts": charts}
    return render(request, "view_shares/shared_view_embed.html", context, status=200 if charts else 404)


@shared()
def shared_csv(request: HttpRequest, opened: OpenedShare) -> HttpResponseBase:
    """Return what a link shows as CSV."""
    return _file(request, opened, "csv")


@shared()
def shared_json(request: HttpRequest, opened: OpenedShare) -> HttpResponseBase:
    """Return what a link shows as JSON."""
    return _file(request, opened, "json")


@shared()
def shared_markdown(request: HttpRequest, opened: OpenedShare) -> HttpResponseBase:
    """Return the view of a link as Markdown."""
    return _file(request, opened, "md")


def _file(request: HttpRequest, opened: OpenedShare, ending: FileEnding) -> HttpResponseBase:
    if not opened.share.path:
        return run_file(request, opened, ending)
    view = _view(opened)
    if view is None:
        return _being_made(request, opened)
    address = request.build_absolute_uri(request.path.removesuffix(f"/results.{ending}"))
    return document_answer(request, view, ending, address=address, name="shared-view")


@shared()
def shared_badge(request: HttpRequest, opened: OpenedShare) -> HttpResponse:
    """Return the badge of a link: a run's metric, or what a view has in one figure."""
    if not opened.share.path:
        return run_badge(request, opened)
    view = _view(opened)
    if view is None or view.badge is None:
        svg = badge_svg("benchweb", _("no figure"), color="grey")
        return HttpResponse(svg, content_type="image/svg+xml", status=404)
    svg = badge_svg(view.badge.label, view.badge.value, color="red" if view.badge.is_bad else "blue")
    return HttpResponse(svg, content_type="image/svg+xml")


def _view(opened: OpenedShare) -> Document | None:
    """Return what a link to a view shows; None while a live one is made for the first time."""
    share, language = opened.share, get_language() or "en"
    if not share.is_live:
        return document_of(opened.page or {})
    return live_view(share, language, lambda: _made_anew(share, language))


def _made_anew(share: Share, language: str) -> Document:
    try:
        view = built(share.path, share.zone, language)
    except NotShareable:
        # Only rows that are gone for good, such as removed synthetic hosts.
        return Document(_("What this link showed no longer exists."), [], [], timezone.now())
    return hidden_names({language: view})[language] if share.anonymise else view


def _being_made(request: HttpRequest, opened: OpenedShare) -> HttpResponse:
    """Ask to come again; the first reader of a link of before live pages were stored makes it."""
    context = {"share": opened.share}
    response = render(request, "view_shares/being_made.html", context, status=503)
    response["Retry-After"] = str(_SECONDS_OF_MAKING)
    return response
