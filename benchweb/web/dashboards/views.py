"""Dashboards: a list, a page of tiles that load one by one, and what arranges them; and the form that adds a view."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.dashboards import services
from benchweb.dashboards.models import Dashboard, Tile
from benchweb.dashboards.parts import parts_of
from benchweb.dashboards.services import DashboardError
from benchweb.sharing.frozen_views import NotShareable, page_at
from benchweb.web.access.once import once
from benchweb.web.dashboards.document import shown_tile, tile_path
from benchweb.web.dashboards.forms import TileForm
from benchweb.web.shared.archiving import done_with_undo
from benchweb.web.shared.zones import reader_zone


@needs(Permission.READ)
@once
@require_http_methods(["GET", "POST"])
def dashboards(request: HttpRequest) -> HttpResponse:
    """List the reader's own dashboards and the team's; on POST make an empty one."""
    user, fault = cast(User, request.user), ""
    if request.method == "POST":
        try:
            return redirect("web:dashboard", services.dashboard_create(user=user, name=request.POST.get("name", "")).pk)
        except DashboardError as error:
            fault = error.message
    context = {"dashboards": services.dashboards_of(user), "fault": fault, "name": request.POST.get("name", "")}
    return render(request, "dashboards/dashboards.html", context, status=422 if fault else 200)


@needs(Permission.READ)
@require_GET
def dashboard(request: HttpRequest, dashboard_id: int) -> HttpResponse:
    """Show a dashboard; `?arrange=1` with what moves its tiles."""
    row = get_object_or_404(Dashboard.objects.select_related("user"), pk=dashboard_id)
    may_arrange = services.arranged_by(cast(User, request.user)).filter(pk=row.pk).exists()
    context = {
        "dashboard": row,
        "tiles": row.tiles.all(),
        "may_arrange": may_arrange,
        "is_arranged": may_arrange and request.GET.get("arrange") == "1",
    }
    return render(request, "dashboards/dashboard.html", context)


@needs(Permission.READ)
@require_GET
def dashboard_tile(request: HttpRequest, dashboard_id: int, tile_id: int) -> HttpResponse:
    """Show what a tile shows now."""
    tile = get_object_or_404(Tile, pk=tile_id, dashboard=dashboard_id)
    shown = shown_tile(tile, reader_zone(request).key, get_language() or "en")
    return render(request, "dashboards/partials/tile.html", {"tile": tile, "shown": shown, "section": shown.section})


@needs(Permission.READ)
@require_POST
def dashboard_change(request: HttpRequest, dashboard_id: int) -> HttpResponse:
    """Rename or remove a dashboard, or offer it to the team, as the button says."""
    user, action = cast(User, request.user), request.POST.get("action", "rename")
    row = get_object_or_404(services.arranged_by(user), pk=dashboard_id)
    if action == "remove":
        if services.dashboard_archive(dashboard=row):
            undo = reverse("web:dashboard_restore", args=[row.pk])
            done_with_undo(request, _("The dashboard {name} is removed.").format(name=row.name), undo)
        return redirect("web:dashboards")
    if action in ("offer", "keep"):
        services.dashboard_offer(user=user, dashboard=row, is_team=action == "offer")
    else:
        try:
            services.dashboard_rename(dashboard=row, name=request.POST.get("name", ""))
        except DashboardError as error:
            messages.error(request, error.message)
    return redirect(f"{reverse('web:dashboard', args=[row.pk])}?arrange=1")


@needs(Permission.READ)
@require_POST
def dashboard_restore(request: HttpRequest, dashboard_id: int) -> HttpResponse:
    """Put a removed dashboard on the lists again."""
    row = get_object_or_404(services.arranged_by(cast(User, request.user)), pk=dashboard_id)
    services.dashboard_restore(dashboard=row)
    return redirect("web:dashboard", row.pk)


@needs(Permission.READ)
@require_POST
def tile_change(request: HttpRequest, dashboard_id: int, tile_id: int) -> HttpResponse:
    """Move, widen, narrow or remove a tile, as the button says."""
    row = get_object_or_404(services.arranged_by(cast(User, request.user)), pk=dashboard_id)
    to, width = request.POST.get("to", ""), request.POST.get("width", "")
    if to.isdecimal() and len(to) < 4:
        is_done = services.tile_place(dashboard=row, tile_id=tile_id, position=int(to))
    elif width:
        is_done = services.tile_resize(dashboard=row, tile_id=tile_id, width=width)
    else:
        is_done = "remove" in request.POST and services.tile_remove(dashboard=row, tile_id=tile_id)
    if not is_done:
        raise Http404
    return redirect(f"{reverse('web:dashboard', args=[row.pk])}?arrange=1")


@needs(Permission.READ)
@once
@require_http_methods(["GET", "POST"])
def tile_new(request: HttpRequest) -> HttpResponse:
    """Ask where a view is to go, and what of it; on POST add it."""
    user, path = cast(User, request.user), request.POST.get("path", "") or request.GET.get("path", "")
    try:
        path = tile_path(path)
        view = page_at(path, reader_zone(request).key, get_language() or "en")
    except (NotShareable, ValueError) as error:
        raise Http404(_("There is no view at this address that can be added to a dashboard.")) from error
    known = services.arranged_by(user).filter(archived_at=None)
    form = TileForm(request.POST if request.method == "POST" else None, dashboards=known, parts=parts_of(view))
    if form.is_bound and form.is_valid():
        try:
            row = _added(user, form, path)
        except DashboardError as error:
            form.refuse(error.field, error.message)
        else:
            messages.success(request, _("Added to {name}.").format(name=row.name))
            return redirect("web:dashboard", row.pk)
    context = {"form": form, "title": _("Add to dashboard"), "back": path, "view": view}
    return render(request, "dashboards/tile_new.html", context, status=422 if form.errors else 200)


@transaction.atomic
def _added(user: User, form: TileForm, path: str) -> Dashboard:
    data = form.cleaned_data
    if form.is_new:
        row = services.dashboard_create(user=user, name=data["name"])
    else:
        row = get_object_or_404(services.arranged_by(user), pk=data["dashboard"])
    services.tile_add(dashboard=row, path=path, part=data["part"], width=data["width"])
    return row
