"""A user's saved views: the menu in the top bar, and the page where they are renamed, ordered and removed."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts import saved_views
from benchweb.accounts.models import SavedView
from benchweb.accounts.saved_views import SavedViewError


@login_required
@require_GET
def view_list(request: HttpRequest) -> HttpResponse:
    """Show the user's own views."""
    return render(
        request, "account/saved_views.html", {"views": SavedView.objects.filter(user=cast(User, request.user))}
    )


@login_required
@require_GET
def view_menu(request: HttpRequest) -> HttpResponse:
    """Return what the menu holds; asked for when it is opened, so that no page pays for it."""
    context = {"views": SavedView.objects.filter(user=cast(User, request.user)), "path": request.GET.get("path", "")}
    return render(request, "account/partials/saved_views_menu.html", context)


@login_required
@require_POST
def view_save(request: HttpRequest) -> HttpResponse:
    """Save the page that was shown under a name, and show it again."""
    path = request.POST.get("path", "")
    try:
        view = saved_views.view_save(user=cast(User, request.user), name=request.POST.get("name", ""), path=path)
    except SavedViewError as error:
        messages.error(request, error.message)
        return redirect("web:saved_views")
    messages.success(request, _("Saved as {name}. You find it in the Views menu.").format(name=view.name))
    return redirect(view.path)


@login_required
@require_POST
def view_change(request: HttpRequest, view_id: int) -> HttpResponse:
    """Rename, move up or remove a view, as the button says."""
    user, action = cast(User, request.user), request.POST.get("action", "rename")
    try:
        if action == "remove":
            is_done = saved_views.view_remove(user=user, view_id=view_id)
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
