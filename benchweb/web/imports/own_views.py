"""Kinds and metrics that other systems defined: everybody sees them, admins retire and delete them."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_lifecycle import Own, losses_of, losses_text, own_delete, own_open, own_restore, own_retire

_ACTIONS = {"retire": own_retire, "restore": own_restore, "open": own_open}


@needs(Permission.READ)
@require_GET
def own_definitions(request: HttpRequest) -> HttpResponse:
    """List them: what each is, and where it holds."""
    kinds = OwnKind.objects.select_related("environment").order_by("name")
    metrics = OwnMetric.objects.select_related("environment").order_by("key")
    return render(request, "imports/own_definitions.html", {"kinds": kinds, "metrics": metrics})


@needs(Permission.ADMIN)
@require_POST
def own_change(request: HttpRequest, what: str, own_id: int) -> HttpResponse:
    """Retire or restore one, or open it to all environments."""
    row, action = _row(what, own_id), _ACTIONS.get(request.POST.get("action", ""))
    if action is None:
        raise Http404(what)
    if action(row):
        messages.success(request, _("{name} is changed. Every process follows within 5 seconds.").format(name=row))
    return redirect("web:own_definitions")


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def own_removal(request: HttpRequest, what: str, own_id: int) -> HttpResponse:
    """Ask, naming what will be lost, then delete one."""
    row = _row(what, own_id)
    if request.method == "POST":
        own_delete(row)
        messages.success(request, _("{name} is deleted.").format(name=row))
        return redirect("web:own_definitions")
    losses = losses_of(row)
    context = {"name": str(row), "losses": "" if losses.is_nothing else losses_text(losses)}
    return render(request, "imports/own_removal.html", context)


def _row(what: str, own_id: int) -> Own:
    if what == "kind":
        return get_object_or_404(OwnKind, pk=own_id)
    if what == "metric":
        return get_object_or_404(OwnMetric, pk=own_id)
    raise Http404(what)
