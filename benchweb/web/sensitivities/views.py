"""Sensitivities: list, add, change, archive, restore."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.models import Sensitivity
from benchweb.regressions.thresholds import sensitivities
from benchweb.regressions.transitions import AlertError
from benchweb.web.access.once import once
from benchweb.web.sensitivities.forms import SensitivityChangeForm, SensitivityForm
from benchweb.web.sensitivities.page import COLUMNS, SCOPES, scope_words, sensitivities_matching, sensitivity_row
from benchweb.web.shared.archiving import archive_page
from benchweb.web.shared.lists import choices_of, list_page, listing, part_of_query


@needs(Permission.READ)
@require_GET
def sensitivity_list(request: HttpRequest) -> HttpResponse:
    """List sensitivities."""
    filters = ("q", "archived", *SCOPES)
    page = listing(request, sensitivities_matching(request.GET), columns=COLUMNS, sort="id", filters=filters)
    context = {
        "page": page,
        "rows": [sensitivity_row(row) for row in page.rows],
        "archived": request.GET.get("archived") == "1",
        "environments": choices_of(Environment.objects.filter(archived_at=None)),
        "plans": choices_of(Plan.objects.filter(archived_at=None)),
        "new_query": part_of_query(request.GET, SCOPES),
    }
    return list_page(request, "sensitivities/sensitivities.html", context)


@needs(Permission.WRITE)
@once
@require_http_methods(["GET", "POST"])
def sensitivity_new(request: HttpRequest) -> HttpResponse:
    """Add a sensitivity; the address may name its plan, environment, kind and metric."""
    is_sent = request.method == "POST"
    form = SensitivityForm(request.POST) if is_sent else SensitivityForm(initial=request.GET.dict())
    if is_sent and form.is_valid():
        try:
            sensitivities.sensitivity_create(form.scope(), **_values(form))
            messages.success(request, _("Added. It applies to runs that end from now on."))
            return redirect("web:sensitivities")
        except AlertError as error:
            form.refuse(error.field, error.message)
    return _form_page(request, {"form": form, "title": _("Add a sensitivity")})


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def sensitivity_edit(request: HttpRequest, sensitivity_id: int) -> HttpResponse:
    """Change what a sensitivity says; what it is of stays."""
    sensitivity = get_object_or_404(sensitivities_matching(QueryDict()), pk=sensitivity_id)
    is_sent = request.method == "POST"
    form = SensitivityChangeForm(request.POST) if is_sent else SensitivityChangeForm.of(sensitivity)
    if is_sent and form.is_valid():
        try:
            sensitivities.sensitivity_update(sensitivity=sensitivity, **_values(form))
            return redirect("web:sensitivities")
        except AlertError as error:
            form.refuse(error.field, error.message)
    return _form_page(request, {"form": form, "title": _("Edit a sensitivity"), "row": sensitivity_row(sensitivity)})


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def sensitivity_archive(request: HttpRequest, sensitivity_id: int) -> HttpResponse:
    """Ask, then archive a sensitivity."""
    sensitivity = get_object_or_404(sensitivities_matching(QueryDict()), pk=sensitivity_id)

    def act() -> bool:
        sensitivities.sensitivity_archive(sensitivity=sensitivity)
        return True

    return archive_page(
        request,
        title=_("sensitivity for {name}").format(name=scope_words(sensitivity)),
        losses=[_("Runs that end from now on are judged by the defaults."), _("Existing alerts stay.")],
        back=reverse("web:sensitivities"),
        done=reverse("web:sensitivities"),
        undo=reverse("web:sensitivity_restore", args=[sensitivity.pk]),
        act=act,
    )


@needs(Permission.WRITE)
@require_POST
def sensitivity_restore(request: HttpRequest, sensitivity_id: int) -> HttpResponse:
    """Take up an archived sensitivity again, unless another one says it of the same by now."""
    sensitivity = get_object_or_404(Sensitivity.objects.select_related("plan", "environment"), pk=sensitivity_id)
    try:
        sensitivities.sensitivity_restore(sensitivity=sensitivity)
        text = _("The sensitivity for {name} is restored.").format(name=scope_words(sensitivity))
        messages.success(request, text)
    except AlertError as error:
        messages.error(request, error.message)
    return redirect("web:sensitivities")


def _values(form: SensitivityChangeForm) -> dict[str, Any]:
    return {name: form.cleaned_data[name] for name in ("floor_ratio", "noise_times")}


def _form_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render(request, "sensitivities/form.html", context | {"back": reverse("web:sensitivities")})
