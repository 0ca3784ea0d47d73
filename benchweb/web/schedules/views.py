"""Schedules: list, page, the form with its live preview, pause, resume, run now, archive, restore."""

from collections.abc import Callable
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.catalog.translation import reason_text, sentence_space
from benchweb.common.names import searched
from benchweb.common.rows import row_id
from benchweb.hosts.selectors import endpoints_usable, labels_in_use, pairs_to_choose
from benchweb.runs.models import State
from benchweb.runs.services import LaunchError
from benchweb.schedules import services
from benchweb.schedules.defaults import DEFAULT_RETRY_PAUSE_SECONDS
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.forecasts.feasibility import feasibility
from benchweb.schedules.models import SKIPPED, Schedule
from benchweb.schedules.selectors import next_slots, rates_since, success_rates
from benchweb.schedules.slots.turns import campaign_under_way, waiting_count
from benchweb.web.schedules.forms import ScheduleForm
from benchweb.web.schedules.preview import schedule_preview
from benchweb.web.schedules.rows import schedule_rows, slot_rows
from benchweb.web.schedules.words import bounds_words, cron_hint, environment_names, target_words, when_words
from benchweb.web.shared.archiving import archive_page, counted
from benchweb.web.shared.lists import Column, list_page, listing
from benchweb.web.shared.zones import reader_zone, zone_names
from benchweb.web.timeline.gantt import gantt

COLUMNS = [
    Column(gettext_noop("Schedule"), "name"),
    Column(gettext_noop("When")),
    Column(gettext_noop("Next slot")),
    Column(gettext_noop("Last result")),
    Column(gettext_noop("Success"), numeric=True),
    Column(gettext_noop("State")),
]
SLOT_COLUMNS = [
    Column(gettext_noop("Slot"), "at"),
    Column(gettext_noop("State"), "state"),
    Column(gettext_noop("Reason")),
    Column(gettext_noop("Runs"), numeric=True),
]
SLOT_STATES = [*State.values, SKIPPED]
FOLDED = (
    *("starts_at", "ends_at", "max_runs", "deadline", "slip"),
    *("missed", "overlap", "blackouts", "retries", "retry_pause", "rerun_percent"),
)
# Pairs and endpoints listed at once; chosen ones are always shown.
DISPLAYED_PAIRS = 200
DISPLAYED_ENDPOINTS = 2_000


@login_required
@require_GET
def schedule_list(request: HttpRequest) -> HttpResponse:
    """List schedules: when next, how the last one went, how many succeed."""
    archived = request.GET.get("archived") == "1"
    rows = Schedule.objects.filter(archived_at__isnull=not archived).select_related("plan")
    if text := searched(request.GET.get("q", "")):
        rows = rows.filter(Q(name__icontains=text) | Q(plan__name__icontains=text))
    if (paused := request.GET.get("paused", "")) in ("0", "1"):
        rows = rows.filter(paused_at__isnull=paused == "0")
    page = listing(request, rows, columns=COLUMNS, sort="name", filters=["q", "paused", "archived"])
    context = {"page": page, "rows": schedule_rows(page.rows), "archived": archived}
    return list_page(request, "schedules/schedules.html", context)


@login_required
@require_GET
def schedule_page(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Show a schedule: what it does, its next times, its slots with what became of each."""
    schedule = get_object_or_404(Schedule.objects.select_related("plan", "created_by"), pk=schedule_id)
    slots = schedule.slots.select_related("campaign")
    if (state := request.GET.get("state", "")) in SLOT_STATES:
        slots = slots.filter(state=state)
    page = listing(request, slots, columns=SLOT_COLUMNS, sort="-at", filters=["state"])
    context = {
        "schedule": schedule,
        "when": when_words(schedule.cron, schedule.every),
        "hint": cron_hint(schedule.cron),
        "bounds": bounds_words(schedule),
        "target": target_words(schedule.target, environment_names([schedule.target])),
        "next_slots": next_slots(schedule),
        "rate": success_rates([schedule], rates_since()).get(schedule.pk),
        "page": page,
        "rows": slot_rows(page.rows),
        "campaign_id": campaign_under_way(schedule),
        "waiting": waiting_count(schedule),
        "states": SLOT_STATES,
    }
    return render(request, "schedules/schedule.html", context)


@login_required
@require_GET
def schedule_outlook(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Say whether a schedule fits; apart from its page, for a large mesh takes a second to place."""
    schedule = get_object_or_404(Schedule.objects.select_related("plan"), pk=schedule_id)
    found = feasibility(schedule)
    context = {
        "found": found,
        "picture": gantt(found, schedule.timezone),
        "timezone": schedule.timezone,
        "is_paused": schedule.paused_at is not None,
    }
    return render(request, "schedules/partials/feasibility.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def schedule_new(request: HttpRequest) -> HttpResponse:
    """Make a schedule; `?plan=` and `?pairs=` fill in."""
    form = ScheduleForm(request.POST) if request.method == "POST" else ScheduleForm(initial=_start(request))

    def save() -> Schedule:
        return services.schedule_create(user=cast(User, request.user), **form.values())

    return _form_page(request, form, save, title=_("New schedule"), back=reverse("web:schedules"))


@login_required
@require_http_methods(["GET", "POST"])
def schedule_edit(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Change a schedule; slots that were launched stay as they are."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    form = ScheduleForm(request.POST) if request.method == "POST" else ScheduleForm.of(schedule)

    def save() -> Schedule:
        return services.schedule_update(schedule=schedule, **form.values())

    back = reverse("web:schedule", args=[schedule.pk])
    return _form_page(
        request,
        form,
        save,
        title=_("Edit {schedule}").format(schedule=schedule.name),
        back=back,
        schedule_id=schedule.pk,
    )


@login_required
@require_POST
def schedule_preview_part(request: HttpRequest) -> HttpResponse:
    """Say what the form as typed comes to; `?schedule=` names the one that is edited."""
    form = ScheduleForm(request.POST)
    schedule_id = row_id(request.GET.get("schedule", ""))
    return render(request, "schedules/partials/preview.html", {"preview": schedule_preview(form, schedule_id)})


@login_required
@require_POST
def schedule_pairs(request: HttpRequest) -> HttpResponse:
    """Return the pairs by the filter, with what was chosen kept."""
    form = ScheduleForm(request.POST)
    return render(request, "schedules/partials/pairs.html", _pair_choice(form, request.POST.get("q", "")))


@login_required
@require_POST
def schedule_pause(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Begin nothing until it is resumed; say what is still running."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_pause(schedule=schedule):
        told = _("Paused: {schedule} launches nothing until it is resumed.").format(schedule=schedule.name)
        if running := campaign_under_way(schedule):
            told += sentence_space()
            told += _("Campaign {campaign} is still running: cancel it to stop it now.").format(campaign=running)
        messages.success(request, told)
    return redirect("web:schedule", schedule_id)


@login_required
@require_POST
def schedule_resume(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Go on with the first time from now on."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_resume(schedule=schedule):
        messages.success(request, _("Resumed: {schedule} continues with its next slot.").format(schedule=schedule.name))
    return redirect("web:schedule", schedule_id)


@login_required
@require_POST
def schedule_cancel(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Cancel what the schedule has running and waiting."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_cancel(schedule=schedule):
        messages.success(request, _("Cancelled: running tests stop within two seconds."))
    else:
        messages.warning(request, _("Nothing to cancel: every run has completed or is already stopping."))
    return redirect("web:schedule", schedule_id)


@login_required
@require_POST
def schedule_run(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Run now, as a slot like any other; go to its campaign."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    try:
        slot = services.run_now(schedule, cast(User, request.user))
    except (ScheduleError, LaunchError) as error:
        messages.error(request, error.message)
        return redirect("web:schedule", schedule_id)
    if slot.campaign_id is None:
        level = messages.INFO if slot.state == State.PENDING else messages.ERROR
        messages.add_message(request, level, reason_text(slot.why))
        return redirect("web:schedule", schedule_id)
    return redirect("web:campaign", slot.campaign_id)


@login_required
@require_http_methods(["GET", "POST"])
def schedule_archive(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Archive a schedule; its slots and their runs stay."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    return archive_page(
        request,
        title=_("schedule {schedule}").format(schedule=schedule.name),
        losses=[
            _("It launches nothing more: queued runs are cancelled, running ones continue."),
            _("Kept, with campaigns, runs and results: {slots}.").format(slots=counted(schedule.slots.count(), "slot")),
        ],
        back=reverse("web:schedule", args=[schedule.pk]),
        done=reverse("web:schedules"),
        act=lambda: services.schedule_archive(schedule=schedule),
    )


@login_required
@require_POST
def schedule_restore(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Bring an archived schedule back."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_restore(schedule=schedule):
        messages.success(
            request,
            _("Schedule {schedule} is restored and continues with its next slot.").format(schedule=schedule.name),
        )
    return redirect("web:schedule", schedule_id)


def _start(request: HttpRequest) -> dict[str, object]:
    pairs = [pk for text in request.GET.getlist("pairs") if (pk := row_id(text)) is not None]
    zone = reader_zone(request).key
    given = {"plan": row_id(request.GET.get("plan", "")), "pairs": pairs}
    return given | {"cron": "0 2 * * *", "timezone": zone, "retry_pause": DEFAULT_RETRY_PAUSE_SECONDS}


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
    if saves and form.is_valid():
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
        "labels": labels_in_use(),
        "zones": zone_names(),
        **_pair_choice(form, request.POST.get("q", "")),
    }
    return render(request, "schedules/schedule_form.html", context)


def _endpoint_choice(form: ScheduleForm) -> dict[str, object]:
    """Return the endpoints of a mesh: a tick that isn't shown would be lost when the form is saved."""
    chosen = _chosen(form, "endpoints")
    others = list(endpoints_usable().exclude(pk__in=chosen)[: DISPLAYED_ENDPOINTS + 1])
    ticked = list(endpoints_usable().filter(pk__in=chosen)) if chosen else []
    return {
        "endpoints": ticked + others[:DISPLAYED_ENDPOINTS],
        "chosen_endpoints": chosen,
        "endpoints_shortened": len(others) > DISPLAYED_ENDPOINTS,
    }


def _chosen(form: ScheduleForm, name: str) -> set[int]:
    return {pk for value in form[name].value() or [] if (pk := row_id(str(value))) is not None}


def _more(form: ScheduleForm) -> dict[str, object]:
    """Say how many of the fields under the fold are set, and whether one has to be seen."""

    def is_set(name: str) -> bool:
        field = form.fields[name]
        return form[name].value() not in (None, "", [], field.prepare_value(field.initial))

    used = sum(map(is_set, FOLDED))
    return {"more_used": used, "more_open": any(name in form.errors for name in FOLDED)}


def _pair_choice(form: ScheduleForm, text: str) -> dict[str, object]:
    chosen = _chosen(form, "pairs")
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
