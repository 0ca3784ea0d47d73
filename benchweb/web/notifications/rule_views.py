"""Rules and maintenance windows: create, edit, archive, restore."""

from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.names import MAXIMUM_LENGTH, stored_name
from benchweb.common.rows import row_id
from benchweb.hosts.models import Host
from benchweb.notifications import services
from benchweb.notifications.models import MaintenanceWindow, Rule
from benchweb.notifications.services import WindowValues
from benchweb.site.values import site_setting
from benchweb.web.access.once import once
from benchweb.web.notifications.forms import RuleForm, WindowForm, local_text
from benchweb.web.shared.plain_pages import PlainFormPages
from benchweb.web.shared.zones import moment_text, reader_zone, zone_names

_MORNING_HOUR = 8
# Whoever silences a host at seven doesn't mean the hour until eight.
_LEAST_NIGHT = timedelta(hours=3)


class RulePages(PlainFormPages[Rule, RuleForm, RuleForm]):
    """Rules; what waits already goes as it was to go."""

    model = Rule
    name, path, list_name = "rule", "notifications/rules", "notifications"
    api_path = "alert-rules"
    permission = Permission.ADMIN
    noun = gettext_lazy("rule {name}")
    new_form = change_form = RuleForm
    add_title = gettext_lazy("Add a rule")

    def rows(self) -> "QuerySet[Rule]":
        return Rule.objects.select_related("channel")

    def losses(self, row: Rule) -> list[str]:
        return [_("Nothing new is sent by this rule; messages that wait are sent.")]

    def archive(self, row: Rule, by: User) -> None:
        services.archive(row=row)

    def restore(self, row: Rule, request: HttpRequest) -> bool:
        return services.restore(row=row)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        return {"time_zone": site_setting("DEFAULT_TIME_ZONE")}

    def create(self, form: RuleForm, request: HttpRequest) -> Rule:
        return services.rule_create(form.values())

    def update(self, row: Rule, form: RuleForm) -> None:
        services.rule_update(rule=row, values=form.values())

    def form_context(self, row: Rule | None) -> dict[str, Any]:
        return {"suggestions": {"zones": zone_names()}}


class WindowPages(PlainFormPages[MaintenanceWindow, WindowForm, WindowForm]):
    """Maintenance windows; what one has muted stays so."""

    model = MaintenanceWindow
    name, path, list_name = "window", "notifications/maintenance", "notifications"
    api_path = "maintenance-windows"
    permission = Permission.RUN
    noun = gettext_lazy("maintenance window {name}")
    new_form = change_form = WindowForm
    add_title = gettext_lazy("Add a maintenance window")

    def losses(self, row: MaintenanceWindow) -> list[str]:
        return [_("Nothing more is muted by it.")]

    def archive(self, row: MaintenanceWindow, by: User) -> None:
        services.archive(row=row)

    def restore(self, row: MaintenanceWindow, request: HttpRequest) -> bool:
        return services.restore(row=row)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """Begin with the host that the address names, and with tonight."""
        host_id = row_id(request.GET.get("host", ""))
        host = Host.objects.filter(pk=host_id, archived_at=None).first() if host_id is not None else None
        if host is None:
            return {}
        now = timezone.now()
        times = {"begins_at": local_text(now), "ends_at": local_text(morning_after(now, reader_zone(request)))}
        return {"host": host, "name": _window_name(host)} | times

    def create(self, form: WindowForm, request: HttpRequest) -> MaintenanceWindow:
        return services.window_create(form.values(), user=cast(User, request.user))

    def update(self, row: MaintenanceWindow, form: WindowForm) -> None:
        services.window_update(window=row, values=form.values())


@needs(Permission.RUN)
@once
@require_POST
def host_silence(request: HttpRequest, host_id: int) -> HttpResponse:
    """Mute the alerts of a host until the morning; what goes on then is told."""
    host = get_object_or_404(Host, pk=host_id, archived_at=None)
    now, zone = timezone.now(), reader_zone(request)
    until = morning_after(now, zone)
    services.window_create(
        WindowValues(name=_window_name(host), begins_at=now, ends_at=until, host=host), user=cast(User, request.user)
    )
    text = _("Nobody is notified of alerts of {host} until {until}.")
    messages.success(request, text.format(host=host.name, until=moment_text(until, zone)))
    return redirect("web:host", host.pk)


def morning_after(now: datetime, zone: ZoneInfo) -> datetime:
    """Return the next morning in a zone: today's where that is some hours off, for whoever is awake at two."""
    morning = now.astimezone(zone).replace(hour=_MORNING_HOUR, minute=0, second=0, microsecond=0)
    return morning if morning - now >= _LEAST_NIGHT else morning + timedelta(days=1)


def _window_name(host: Host) -> str:
    return stored_name(_("Maintenance of {host}").format(host=host.name))[:MAXIMUM_LENGTH]
