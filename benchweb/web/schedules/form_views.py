"""The form of schedules: make one, edit one, its live preview and its choices."""

from collections.abc import Callable
from datetime import time
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_id, row_ids
from benchweb.hosts.meshes import pairs_chosen
from benchweb.hosts.models import Host
from benchweb.hosts.selectors import endpoints_usable, pairs_to_choose
from benchweb.labels import labels_in_use
from benchweb.runs.services import LaunchError
from benchweb.schedules import services
from benchweb.schedules.defaults import DEFAULT_RETRY_PAUSE_SECONDS
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.models import Schedule
from benchweb.schedules.selectors import environments_of_schedule
from benchweb.schedules.targets import target_demand
from benchweb.web.access.once import once
from benchweb.web.schedules.forms import ScheduleForm
from benchweb.web.schedules.preview import schedule_preview
from benchweb.web.shared.edits import CONFLICT, edits
from benchweb.web.shared.zones import reader_zone, zone_names

FOLDED = (
    *("starts_at", "ends_at", "max_runs", "deadline", "slip"),
    *("missed", "overlap", "arrangement", "blackouts", "retries", "retry_pause", "rerun_percent"),
)
# Pairs and endpoints listed at once; chosen ones are always shown.
DISPLAYED_PAIRS = 200
DISPLAYED_ENDPOINTS = 2_000


@needs(Permission.RUN, checked_by_view=True)
@once
@require_http_methods(["GET", "POST"])
def schedule_new(request: HttpRequest) -> HttpResponse:
    """Make a schedule; `?name=`, `?plan=`, `?pairs=` and `?endpoints=` of a mesh fill in."""
    form = ScheduleForm(request.POST) if request.method == "POST" else ScheduleForm(initial=_start(request))

    def save() -> Schedule:
        return services.schedule_create(user=cast(User, request.user), **_allowed_values(request, form.values()))

    return _form_page(request, form, save, title=_("New schedule"), back=reverse("web:schedules"))


@needs(Permission.RUN, within=environments_of_schedule)
@edits("schedules", "schedule_id")
@require_http_methods(["GET", "POST"])
def schedule_edit(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Change a schedule; slots that were launched stay as they are."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    current = ScheduleForm.of(schedule)
    form = ScheduleForm(request.POST) if request.method == "POST" else current
    form.note_opened(request.POST, current)

    def save() -> Schedule:
        return services.schedule_update(schedule=schedule, **_allowed_values(request, form.values(), schedule))

    back = reverse("web:schedule", args=[schedule.pk])
    return _form_page(
        request,
        form,
        save,
        title=_("Edit {schedule}").format(schedule=schedule.name),
        back=back,
        schedule_id=schedule.pk,
    )


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def schedule_preview_part(request: HttpRequest) -> HttpResponse:
    """Say what the form as typed comes to; `?schedule=` names the one that is edited."""
    form = ScheduleForm(request.POST)
    schedule_id = row_id(request.GET.get("schedule", ""))
    return render(request, "schedules/partials/preview.html", {"preview": schedule_preview(form, schedule_id)})


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def schedule_pairs(request: HttpRequest) -> HttpResponse:
    """Return the pairs by the filter, with what was chosen kept."""
    form = ScheduleForm(request.POST)
    return render(request, "schedules/partials/pairs.html", _pair_choice(form, request.POST.get("q", "")))


def _allowed_values(request: HttpRequest, values: dict[str, Any], schedule: Schedule | None = None) -> dict[str, Any]:
    """Return the values of a schedule; raise Refused where its target has pairs that the reader may not run or make."""
    target_demand(values["target"], cast(User, request.user), schedule.target if schedule else None)
    return values


def _start(request: HttpRequest) -> dict[str, object]:
    pairs = row_ids(request.GET.getlist("pairs"))
    zone = reader_zone(request).key
    given: dict[str, object] = {
        "name": request.GET.get("name", ""),
        "plan": row_id(request.GET.get("plan", "")),
        "pairs": pairs,
        "environment": row_id(request.GET.get("environment", "")),
    }
    given |= _mesh_of_address(request)
    given = {"target": "pairs" if given["pairs"] else "environment"} | given
    given |= {"repeat": "times", "at": time(2), "cron": "0 2 * * *"}
    return given | {"timezone": zone, "retry_pause": DEFAULT_RETRY_PAUSE_SECONDS}


def _mesh_of_address(request: HttpRequest) -> dict[str, object]:
    """Return what an address fills in by endpoints: a mesh of them as it is at each slot, or the pairs of a hub."""
    environment_id = row_id(request.GET.get("environment", ""))
    endpoint_ids = row_ids(request.GET.getlist("endpoints"))
    if environment_id is None or not endpoint_ids:
        return {}
    if request.GET.get("target") == "mesh":
        return {"target": "mesh", "endpoints": endpoint_ids, "mesh_environment": environment_id}
    hub_id, both = row_id(request.GET.get("hub", "")), "one_way" not in request.GET
    chosen = pairs_chosen(endpoint_ids=endpoint_ids, environment_id=environment_id, hub_id=hub_id, both=both)
    return {"pairs": chosen}


def _form_page(
    request: HttpRequest,
    form: ScheduleForm,
    save: Callable[[], Schedule],
    *,
    title: str,
    back: str,
    schedule_id: int | None = None,
) -> HttpResponse:
    """Show the form, or save what was sent; a refusal is shown at its field with all that was typed."""
    saves = request.method == "POST" and request.POST.get("action") == "save"
    if saves and form.is_valid() and form.status != CONFLICT:
        try:
            return redirect("web:schedule", save().pk)
        except (ScheduleError, LaunchError) as error:
            form.refuse(error.field, error.message)
    # A fresh form's preview is fetched by the page itself: to place a large mesh takes a second.
    preview = schedule_preview(ScheduleForm(request.POST), schedule_id) if request.method == "POST" else None
    context = {
        "form": form,
        "preview": preview,
        "title": title,
        "back": back,
        "schedule_id": schedule_id,
        **_endpoint_choice(form),
        **_more(form),
        "labels": labels_in_use(Host),
        "zones": zone_names(),
        **_pair_choice(form, request.POST.get("q", "")),
    }
    return render(request, "schedules/schedule_form.html", context, status=form.status)


def _endpoint_choice(form: ScheduleForm) -> dict[str, object]:
    """Return the endpoints of a mesh: a tick that isn't shown would be lost when the form is saved."""
    chosen = _chosen_ids(form, "endpoints")
    others = list(endpoints_usable().exclude(pk__in=chosen)[: DISPLAYED_ENDPOINTS + 1])
    ticked = list(endpoints_usable().filter(pk__in=chosen)) if chosen else []
    return {
        "endpoints": ticked + others[:DISPLAYED_ENDPOINTS],
        "chosen_endpoints": chosen,
        "endpoints_shortened": len(others) > DISPLAYED_ENDPOINTS,
    }


def _chosen_ids(form: ScheduleForm, name: str) -> set[int]:
    return set(row_ids(map(str, form[name].value() or [])))


def _more(form: ScheduleForm) -> dict[str, object]:
    """Say how many of the fields under the fold are set, and whether one has to be seen."""

    def is_set(name: str) -> bool:
        field = form.fields[name]
        return form[name].value() not in (None, "", [], field.prepare_value(field.initial))

    used = sum(map(is_set, FOLDED))
    return {"more_used": used, "more_open": any(name in form.errors for name in FOLDED)}


def _pair_choice(form: ScheduleForm, text: str) -> dict[str, object]:
    chosen = _chosen_ids(form, "pairs")
    pairs, matching = pairs_to_choose(chosen=chosen, text=text, most=DISPLAYED_PAIRS)
    # Of hundreds in a box those that are chosen would be out of sight.
    pairs.sort(key=lambda pair: pair.pk not in chosen)
    return {
        "pairs": pairs,
        "chosen": chosen,
        "pair_text": text,
        "matching": matching,
        "is_shortened": matching > DISPLAYED_PAIRS,
    }
