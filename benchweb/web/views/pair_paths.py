"""The data path of a pair: check it now, and follow the check."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.hosts.models import Pair
from benchweb.hosts.path_checks import path_check
from benchweb.web.awaited_check import AwaitedCheck
from benchweb.web.path_panel import PathPanel, path_panel


@login_required
@require_POST
def pair_check(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Ask for a check now; with HTMX the panel follows it, else the pair's page shows it when reloaded."""
    pair = _pair(pair_id)
    path_check(pair=pair)
    if not request.headers.get("HX-Request"):
        messages.info(request, _("Checking {endpoint}. Reload this page in a few seconds.").format(endpoint=pair))
        return redirect("web:pair", pair.pk)
    return _page(request, path_panel(pair, AwaitedCheck.begun(pair.path_checked_at)))


@login_required
@require_POST
def pair_watch(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Return the panel as it is now."""
    return _page(request, path_panel(_pair(pair_id), AwaitedCheck.posted(request)))


def _pair(pair_id: int) -> Pair:
    return get_object_or_404(Pair.objects.select_related("source__host", "sink__host"), pk=pair_id)


def _page(request: HttpRequest, panel: PathPanel) -> HttpResponse:
    return render(request, "partials/path_panel.html", {"path": panel, "pair": panel.pair})
