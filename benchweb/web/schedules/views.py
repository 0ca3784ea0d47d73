"""Schedules: list, page, the form with its live preview, pause, resume, run now, archive, restore."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog.translation import reason_text, sentence_space
from benchweb.common.names import searched
from benchweb.regressions.alert_texts import budget_text
from benchweb.regressions.judging.budget import rerun_budget
from benchweb.runs.models import State
from benchweb.runs.services import LaunchError
from benchweb.schedules import services
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.forecasts.feasibility import feasibility
from benchweb.schedules.models import SKIPPED, Schedule
from benchweb.schedules.selectors import environments_of_schedule, next_slots, rates_since, success_rates
from benchweb.schedules.slots.turns import campaign_under_way, waiting_count
from benchweb.web.access.once import once
from benchweb.web.schedules.rows import schedule_rows, slot_rows
from benchweb.web.schedules.words import (
    bounds_words,
    cron_hint,
    environment_names,
    target_words,
    weeks_compared_url,
    when_words,
)
from benchweb.web.shared.archiving import counted
from benchweb.web.shared.lists import Column, list_page, listing
from benchweb.web.shared.plain_pages import PlainPages
from benchweb.web.shared.words import arrangement_words
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


@needs(Permission.READ)
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


@needs(Permission.READ)
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
        "hint": cron_hint(schedule.cron, schedule.timezone),
        "bounds": bounds_words(schedule),
        "arrangement": arrangement_words(schedule.arrangement),
        "target": target_words(schedule.target, environment_names([schedule.target])),
        "next_slots": next_slots(schedule),
        "reruns": budget_text(rerun_budget(schedule)) if schedule.rerun_percent else "",
        "rate": success_rates([schedule], rates_since()).get(schedule.pk),
        "page": page,
        "rows": slot_rows(page.rows),
        "campaign_id": campaign_under_way(schedule),
        "waiting": waiting_count(schedule),
        "states": SLOT_STATES,
        "weeks_url": weeks_compared_url(schedule),
    }
    return render(request, "schedules/schedule.html", context)


@needs(Permission.READ)
@require_GET
def schedule_outlook(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Say whether a schedule fits; apart from its page, for a large mesh takes a second to place."""
    schedule = get_object_or_404(Schedule.objects.select_related("plan"), pk=schedule_id)
    outlook = feasibility(schedule)
    context = {
        "outlook": outlook,
        "picture": gantt(outlook, schedule.timezone),
        "timezone": schedule.timezone,
        "is_paused": schedule.paused_at is not None,
    }
    return render(request, "schedules/partials/feasibility.html", context)


@needs(Permission.RUN, within=environments_of_schedule)
@require_POST
def schedule_pause(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Begin nothing until it is resumed; say what is still running."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_pause(schedule=schedule):
        text = _("Paused: {schedule} launches nothing until it is resumed.").format(schedule=schedule.name)
        if running := campaign_under_way(schedule):
            text += sentence_space()
            text += _("Campaign {campaign} is still running: cancel it to stop it now.").format(campaign=running)
        messages.success(request, text)
    return redirect("web:schedule", schedule_id)


@needs(Permission.RUN, within=environments_of_schedule)
@require_POST
def schedule_resume(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Go on with the first time from now on."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_resume(schedule=schedule):
        messages.success(request, _("Resumed: {schedule} continues with its next slot.").format(schedule=schedule.name))
    return redirect("web:schedule", schedule_id)


@needs(Permission.RUN, within=environments_of_schedule)
@require_POST
def schedule_cancel(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Cancel what the schedule has running and waiting."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    if services.schedule_cancel(schedule=schedule):
        messages.success(request, _("Cancelled: running tests stop within two seconds."))
    else:
        messages.warning(request, _("Nothing to cancel: every run has completed or is already stopping."))
    return redirect("web:schedule", schedule_id)


@needs(Permission.RUN, within=environments_of_schedule)
@once
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


class SchedulePages(PlainPages[Schedule]):
    """Schedules; their slots and the runs of these stay."""

    model, page_name, has_archived_pages = Schedule, "schedule", True
    name, path, list_name = "schedule", "schedules", "schedules"
    permission, within = Permission.RUN, staticmethod(environments_of_schedule)
    noun = gettext_lazy("schedule {name}")
    restored = gettext_lazy("Schedule {name} is restored and continues with its next slot.")

    def losses(self, row: Schedule) -> list[str]:
        slots = counted(row.slots.count(), "slot")
        return [
            _("It launches nothing more: queued runs are cancelled, running ones continue."),
            _("Kept, with campaigns, runs and results: {slots}.").format(slots=slots),
        ]

    def archive(self, row: Schedule, by: User) -> bool:
        return services.schedule_archive(schedule=row)

    def restore(self, row: Schedule, request: HttpRequest) -> bool:
        return services.schedule_restore(schedule=row)
