"""What a stranger will see, before a link is made: the same page, stored nowhere."""

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.run.record import stored_record
from benchweb.common.addresses import path_within, site_path
from benchweb.documents.document import Document
from benchweb.documents.json_file import document_of, stored_document
from benchweb.runs.selectors import environments_of_run, runs_named
from benchweb.sharing.frozen_views import NotShareable, hidden_names
from benchweb.sharing.models import Share
from benchweb.sharing.selectors import OpenedShare
from benchweb.sharing.services import run_frozen
from benchweb.web.shared.document_answer import FileEnding, document_answer
from benchweb.web.shares.shared_views import run_page
from benchweb.web.view_shares.building import built
from benchweb.web.view_shares.views import reader_zone_name


@needs(Permission.RUN, within=environments_of_run)
@never_cache
@require_GET
def run_preview(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show a run as a link would; `?anonymise=1` with pseudonyms."""
    run = get_object_or_404(runs_named(), pk=run_id)
    share = _share(request)
    pages = run_frozen(run=run, anonymise=share.anonymise).pages
    page = stored_record(pages[get_language() or "en"])
    return run_page(request, OpenedShare(share, "", None, page), is_preview=True)


@needs(Permission.RUN)
@never_cache
@require_GET
def view_preview(request: HttpRequest) -> HttpResponse:
    """Show a view as a link would; `?anonymise=1` with pseudonyms."""
    share = _share(request)
    view = document_of(stored_document(_requested(request)))
    return render(request, "view_shares/shared_view.html", {"share": share, "view": view, "is_preview": True})


@needs(Permission.READ)
@never_cache
@require_GET
def view_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Return a view as CSV; `?anonymise=1` with pseudonyms."""
    return _file(request, "csv")


@needs(Permission.READ)
@never_cache
@require_GET
def view_json(request: HttpRequest) -> StreamingHttpResponse:
    """Return a view as JSON; `?anonymise=1` with pseudonyms."""
    return _file(request, "json")


@needs(Permission.READ)
@never_cache
@require_GET
def view_markdown(request: HttpRequest) -> StreamingHttpResponse:
    """Return a view as Markdown; `?anonymise=1` with pseudonyms."""
    return _file(request, "md")


def _file(request: HttpRequest, ending: FileEnding) -> StreamingHttpResponse:
    address = request.build_absolute_uri(site_path(path_within(request.GET.get("path", ""))))
    return document_answer(request, _requested(request), ending, address=address, name="view")


def _requested(request: HttpRequest) -> Document:
    language = get_language() or "en"
    try:
        view = built(request.GET.get("path", ""), reader_zone_name(request), language)
    except (NotShareable, ValueError) as error:
        raise Http404(_("There is no view at this address that can be shared.")) from error
    return hidden_names({language: view})[language] if _share(request).anonymise else view


def _share(request: HttpRequest) -> Share:
    return Share(anonymise=request.GET.get("anonymise") == "1", created_at=timezone.now())
