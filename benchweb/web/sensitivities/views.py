"""Sensitivities: list, add, change, archive, restore."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.models import Sensitivity
from benchweb.regressions.thresholds import sensitivities
from benchweb.web.sensitivities.forms import SensitivityChangeForm, SensitivityForm
from benchweb.web.sensitivities.page import COLUMNS, SCOPES, scope_words, sensitivities_matching, sensitivity_row
from benchweb.web.shared.lists import choices_of, part_of_query
from benchweb.web.shared.plain_pages import PlainFormPages


class SensitivityPages(PlainFormPages[Sensitivity, SensitivityForm, SensitivityChangeForm]):
    """Sensitivities; what one is of stays."""

    model = Sensitivity
    name, path, list_name = "sensitivity", "sensitivities", "sensitivities"
    noun = gettext_lazy("sensitivity for {name}")
    restored = gettext_lazy("The sensitivity for {name} is restored.")
    list_template, columns, filters = "sensitivities/sensitivities.html", COLUMNS, ("q", "archived", *SCOPES)
    sort = "id"
    new_form, change_form, form_template = SensitivityForm, SensitivityChangeForm, "sensitivities/form.html"
    add_title = gettext_lazy("Add a sensitivity")

    def rows(self) -> "QuerySet[Sensitivity]":
        return Sensitivity.objects.select_related("plan", "environment")

    def matching(self, query: QueryDict) -> "QuerySet[Sensitivity]":
        return sensitivities_matching(query)

    def list_context(self, request: HttpRequest, rows: Sequence[Sensitivity]) -> dict[str, Any]:
        return {
            "rows": [sensitivity_row(row) for row in rows],
            "environments": choices_of(Environment.objects.filter(archived_at=None)),
            "plans": choices_of(Plan.objects.filter(archived_at=None)),
            "new_query": part_of_query(request.GET, SCOPES),
        }

    def row_name(self, row: Sensitivity) -> str:
        return scope_words(row)

    def losses(self, row: Sensitivity) -> list[str]:
        return [_("Runs that end from now on are judged by the defaults."), _("Existing alerts stay.")]

    def archive(self, row: Sensitivity, by: User) -> None:
        sensitivities.sensitivity_archive(sensitivity=row)

    def restore(self, row: Sensitivity, request: HttpRequest) -> None:
        sensitivities.sensitivity_restore(sensitivity=row)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        return request.GET.dict()

    def create(self, form: SensitivityForm, request: HttpRequest) -> Sensitivity:
        sensitivity = sensitivities.sensitivity_create(form.scope(), **form.values())
        messages.success(request, _("Added. It applies to runs that end from now on."))
        return sensitivity

    def update(self, row: Sensitivity, form: SensitivityChangeForm) -> None:
        sensitivities.sensitivity_update(sensitivity=row, **form.values())

    def edit_title(self, row: Sensitivity) -> str:
        return _("Edit a sensitivity")

    def form_context(self, row: Sensitivity | None) -> dict[str, Any]:
        return {"row": sensitivity_row(row)} if row else {}
