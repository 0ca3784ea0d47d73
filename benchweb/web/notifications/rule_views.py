"""Rules and maintenance windows: create, edit, archive, restore."""

from collections.abc import Callable
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.notifications import services
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.models import MaintenanceWindow, Rule
from benchweb.site.values import site_setting
from benchweb.web.access.once import once
from benchweb.web.notifications.forms import RuleForm, WindowForm
from benchweb.web.shared.archiving import archive_page
from benchweb.web.shared.zones import zone_names


@needs(Permission.ADMIN)
@once
@require_http_methods(["GET", "POST"])
def rule_new(request: HttpRequest) -> HttpResponse:
    """Create a rule."""
    start = {"time_zone": site_setting("DEFAULT_TIME_ZONE")}
    form = RuleForm(request.POST) if request.method == "POST" else RuleForm(initial=start)
    return _form_page(request, form, _("Add a rule"), lambda: services.rule_create(form.values()))


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def rule_edit(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Change a rule; what waits already goes as it was to go."""
    rule = get_object_or_404(Rule, pk=rule_id, archived_at=None)
    form = RuleForm(request.POST) if request.method == "POST" else RuleForm.of(rule)
    title = _("Edit {name}").format(name=rule.name)
    return _form_page(request, form, title, lambda: services.rule_update(rule=rule, values=form.values()))


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def rule_archive(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Ask, then archive a rule."""
    rule = get_object_or_404(Rule, pk=rule_id, archived_at=None)
    title = _("rule {name}").format(name=rule.name)
    return _archive_page(request, rule, title, _("Nothing new is sent by this rule; messages that wait are sent."))


@needs(Permission.ADMIN)
@require_POST
def rule_restore(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Bring an archived rule back."""
    return _restored(request, get_object_or_404(Rule.objects.select_related("channel"), pk=rule_id))


@needs(Permission.RUN)
@once
@require_http_methods(["GET", "POST"])
def window_new(request: HttpRequest) -> HttpResponse:
    """Create a maintenance window."""
    form = WindowForm(request.POST) if request.method == "POST" else WindowForm()
    user = cast(User, request.user)
    title = _("Add a maintenance window")
    return _form_page(request, form, title, lambda: services.window_create(form.values(), user=user))


@needs(Permission.RUN)
@require_http_methods(["GET", "POST"])
def window_edit(request: HttpRequest, window_id: int) -> HttpResponse:
    """Change a maintenance window; what it has muted stays so."""
    window = get_object_or_404(MaintenanceWindow, pk=window_id, archived_at=None)
    form = WindowForm(request.POST) if request.method == "POST" else WindowForm.of(window)
    title = _("Edit {name}").format(name=window.name)
    return _form_page(request, form, title, lambda: services.window_update(window=window, values=form.values()))


@needs(Permission.RUN)
@require_http_methods(["GET", "POST"])
def window_archive(request: HttpRequest, window_id: int) -> HttpResponse:
    """Ask, then archive a maintenance window."""
    window = get_object_or_404(MaintenanceWindow, pk=window_id, archived_at=None)
    title = _("maintenance window {name}").format(name=window.name)
    return _archive_page(request, window, title, _("Nothing more is muted by it."))


@needs(Permission.RUN)
@require_POST
def window_restore(request: HttpRequest, window_id: int) -> HttpResponse:
    """Bring an archived maintenance window back."""
    return _restored(request, get_object_or_404(MaintenanceWindow, pk=window_id))


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


def _archive_page(request: HttpRequest, row: Rule | MaintenanceWindow, title: str, loss: str) -> HttpResponse:
    def act() -> bool:
        services.archive(row=row)
        return True

    back = reverse("web:notifications")
    undo = reverse("web:rule_restore" if isinstance(row, Rule) else "web:window_restore", args=[row.pk])
    return archive_page(request, title=title, losses=[loss], back=back, done=back, undo=undo, act=act)


def _restored(request: HttpRequest, row: Rule | MaintenanceWindow) -> HttpResponse:
    try:
        if services.restore(row=row):
            messages.success(request, _("Restored: {name}.").format(name=row.name))
    except NotificationError as error:
        messages.error(request, error.message)
    return redirect("web:notifications")
