"""A user's saved views: the menu in the top bar, and the page where they are renamed, ordered and removed."""

from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts import saved_views
from benchweb.accounts.models import SavedView
from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.saved_views import SavedViewError
from benchweb.common.addresses import path_within, site_path
from benchweb.web.access.once import once
from benchweb.web.shared.archiving import done_with_undo


@needs(Permission.READ)
@require_GET
def view_list(request: HttpRequest) -> HttpResponse:
    """Show the user's own views, and admins those that others offer."""
    user = cast(User, request.user)
    context = {
        "views": SavedView.objects.filter(user=user),
        "team_views": saved_views.team_views(user) if access_of(user).may(Permission.ADMIN) else (),
    }
    return render(request, "account/saved_views.html", context)


@needs(Permission.READ)
@require_GET
def view_menu(request: HttpRequest) -> HttpResponse:
    """Return what the menu holds; asked for when it is opened, so that no page pays for it."""
    user = cast(User, request.user)
    context = {
        "views": SavedView.objects.filter(user=user),
        "team_views": saved_views.team_views(user),
        "path": request.GET.get("path", ""),
    }
    return render(request, "account/partials/saved_views_menu.html", context)


@needs(Permission.READ)
@once
@require_POST
def view_save(request: HttpRequest) -> HttpResponse:
    """Save the page that was shown under a name, and show it again; to undo a removal the address names both."""
    user, values = cast(User, request.user), request.GET if "path" in request.GET else request.POST
    path, name = values.get("path", ""), values.get("name", "")
    try:
        view = saved_views.view_save(user=user, name=name, path=path_within(path))
    except SavedViewError as error:
        messages.error(request, error.message)
        return redirect("web:saved_views")
    if "team" in request.GET and saved_views.may_offer(user):
        saved_views.view_offer(user=user, view_id=view.pk, is_team=True)
    messages.success(request, _("Saved as {name}. You find it in the Views menu.").format(name=view.name))
    return redirect(site_path(view.path))


@needs(Permission.READ)
@require_POST
def view_change(request: HttpRequest, view_id: int) -> HttpResponse:
    """Rename, move up, remove, or offer a view to the team, as the button says."""
    user, action = cast(User, request.user), request.POST.get("action", "rename")
    try:
        if action == "remove":
            is_done = _remove(request, user, view_id)
        elif action in ("offer", "keep"):
            is_done = saved_views.view_offer(user=user, view_id=view_id, is_team=action == "offer")
        elif action == "up":
            is_done = saved_views.view_move_up(user=user, view_id=view_id)
        else:
            is_done = saved_views.view_rename(user=user, view_id=view_id, name=request.POST.get("name", ""))
    except SavedViewError as error:
        messages.error(request, error.message)
        return redirect("web:saved_views")
    if not is_done and not SavedView.objects.filter(user=user, pk=view_id).exists():
        raise Http404
    return redirect("web:saved_views")


@needs(Permission.ADMIN)
@require_POST
def view_withdraw(request: HttpRequest, view_id: int) -> HttpResponse:
    """Take a view that somebody offers from everybody's menu."""
    if saved_views.view_withdraw(view_id=view_id):
        messages.success(request, _("Removed from the team's views. It stays its user's own."))
    return redirect("web:saved_views")


def _remove(request: HttpRequest, user: User, view_id: int) -> bool:
    """Remove a view; to undo it is to save it again."""
    view = saved_views.view_remove(user=user, view_id=view_id)
    if view is None:
        return False
    values = {"name": view.name, "path": view.path} | ({"team": 1} if view.is_team else {})
    undo = f"{reverse('web:saved_view_save')}?{urlencode(values)}"
    done_with_undo(request, _("The view {name} is removed.").format(name=view.name), undo)
    return True
