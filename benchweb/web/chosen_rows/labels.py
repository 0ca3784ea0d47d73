"""A label added to the rows ticked in a list, or taken from them."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.hosts.models import Host, Pair
from benchweb.hosts.selectors import environments_of_pairs
from benchweb.labels import LabelError, Row, label_add, label_remove
from benchweb.plans.models import Plan
from benchweb.web.shared.archiving import Noun, counted, ticked
from benchweb.web.shared.lists import posted_back


def rows_labelled(request: HttpRequest, rows: QuerySet[Row], noun: Noun, back: str) -> HttpResponse:
    """Do what the pressed button says, and tell how many rows it changed, or what is wrong."""
    act = label_remove if request.POST.get("action") == "unlabel" else label_add
    try:
        count = act(rows, request.POST.get("label", ""))
        messages.success(request, _("The labels of {rows} are changed.").format(rows=counted(count, noun)))
    except LabelError as error:
        messages.error(request, error.message)
    return redirect(back)


@needs(Permission.WRITE)
@require_POST
def hosts_label(request: HttpRequest) -> HttpResponse:
    """Add a label to the ticked hosts, or take one from them."""
    return _labelled(request, Host.objects.all(), "host")


@needs(Permission.WRITE, checked_by_view=True)
@require_POST
def pairs_label(request: HttpRequest) -> HttpResponse:
    """Add a label to the ticked pairs, or take one from them."""
    ids = ticked(request.POST.getlist("rows"))
    access_of(request.user).demand(Permission.WRITE, environments_of_pairs(ids))
    return _labelled(request, Pair.objects.select_related("source__host", "sink__host"), "pair")


@needs(Permission.WRITE)
@require_POST
def plans_label(request: HttpRequest) -> HttpResponse:
    """Add a label to the ticked plans, or take one from them."""
    return _labelled(request, Plan.objects.all(), "plan")


def _labelled(request: HttpRequest, rows: QuerySet[Row], noun: Noun) -> HttpResponse:
    ids, back = ticked(request.POST.getlist("rows")), posted_back(request, f"web:{noun}s")
    if not ids:
        messages.warning(request, _("Nothing is selected: tick some in the first column."))
        return redirect(back)
    return rows_labelled(request, rows.filter(pk__in=ids), noun, back)
