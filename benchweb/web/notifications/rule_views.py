"""Rules and maintenance windows: create, edit, archive."""

from collections.abc import Callable
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchweb.hosts.models import Archivable
from benchweb.notifications import services
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.models import MaintenanceWindow, Rule
from benchweb.web.notifications.forms import RuleForm, WindowForm
from benchweb.web.shared.zones import zone_names


@login_required
@require_http_methods(["GET", "POST"])
def rule_new(request: HttpRequest) -> HttpResponse:
    """Create a rule."""
    form = RuleForm(request.POST) if request.method == "POST" else RuleForm(initial={"time_zone": "UTC"})
    return _form_page(request, form, _("Add a rule"), lambda: services.rule_create(form.values()))


@login_required
@require_http_methods(["GET", "POST"])
def rule_edit(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Change a rule; what waits already goes as it was to go."""
    rule = get_object_or_404(Rule, pk=rule_id, archived_at=None)
    form = RuleForm(request.POST) if request.method == "POST" else RuleForm.of(rule)
    title = _("Edit {name}").format(name=rule.name)
    return _form_page(request, form, title, lambda: services.rule_update(rule=rule, values=form.values()))


@login_required
@require_http_methods(["GET", "POST"])
def rule_archive(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Ask, then archive a rule."""
    rule = get_object_or_404(Rule, pk=rule_id, archived_at=None)
    return _archive_page(request, rule, _("Nothing new is sent by this rule. This can't be undone."))


@login_required
@require_http_methods(["GET", "POST"])
def window_new(request: HttpRequest) -> HttpResponse:
    """Create a maintenance window."""
    form = WindowForm(request.POST) if request.method == "POST" else WindowForm()
    user = cast(User, request.user)
    title = _("Add a maintenance window")
    return _form_page(request, form, title, lambda: services.window_create(form.values(), user=user))


@login_required
@require_http_methods(["GET", "POST"])
def window_edit(request: HttpRequest, window_id: int) -> HttpResponse:
    """Change a maintenance window; what it has muted stays so."""
    window = get_object_or_404(MaintenanceWindow, pk=window_id, archived_at=None)
    form = WindowForm(request.POST) if request.method == "POST" else WindowForm.of(window)
    title = _("Edit {name}").format(name=window.name)
    return _form_page(request, form, title, lambda: services.window_update(window=window, values=form.values()))


@login_required
@require_http_methods(["GET", "POST"])
def window_archive(request: HttpRequest, window_id: int) -> HttpResponse:
    """Ask, then archive a maintenance window."""
    window = get_object_or_404(MaintenanceWindow, pk=window_id, archived_at=None)
    return _archive_page(request, window, _("Nothing more is muted by it. This can't be undone."))


def _form_page(
    request: HttpRequest, form: RuleForm | WindowForm, title: str, save: Callable[[], object]
) -> HttpResponse:
    back = reverse("web:notifications")
    if request.method == "POST" and form.is_valid():
        try:
            save()
            return redirect(back)
        except NotificationError as error:
            form.refuse(error.field, error.message)
    context = {"form": form, "title": title, "back": back, "suggestions": {"zones": zone_names()}}
    return render(request, "shared/form.html", context)


def _archive_page(request: HttpRequest, row: Archivable, consequence: str) -> HttpResponse:
    if request.method == "POST":
        services.archive(row=row)
        messages.success(request, _("Archived: {name}.").format(name=row.name))
        return redirect("web:notifications")
    context = {"name": row.name, "consequences": [consequence], "back": reverse("web:notifications")}
    return render(request, "notifications/archive.html", context)
