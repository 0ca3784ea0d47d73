"""Rules and maintenance windows: create, edit, archive, restore."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.accounts.permissions import Permission
from benchweb.notifications import services
from benchweb.notifications.models import MaintenanceWindow, Rule
from benchweb.site.values import site_setting
from benchweb.web.notifications.forms import RuleForm, WindowForm
from benchweb.web.shared.plain_pages import PlainFormPages
from benchweb.web.shared.zones import zone_names


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

    def create(self, form: WindowForm, request: HttpRequest) -> MaintenanceWindow:
        return services.window_create(form.values(), user=cast(User, request.user))

    def update(self, row: MaintenanceWindow, form: WindowForm) -> None:
        services.window_update(window=row, values=form.values())
