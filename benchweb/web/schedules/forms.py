"""The form of schedules: what to run on, when, and what to do about what gets in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchweb.hosts import selectors
from benchweb.hosts.models import Environment, Pair
from benchweb.plans import selectors as plans
from benchweb.plans.models import Plan
from benchweb.runs.models import Campaign
from benchweb.schedules.defaults import (
    DEFAULT_RERUN_PERCENT,
    DEFAULT_RETRIES,
    DEFAULT_RETRY_PAUSE_SECONDS,
    MAX_RUNS,
    RERUN_PERCENT,
    RETRIES,
)
from benchweb.schedules.errors import TimingError
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.localtime import zone_checked
from benchweb.web.schedules.fields.blackouts import BlackoutsField
from benchweb.web.schedules.fields.day_times import cron_of_picked, days_field, picked_from, time_of_day
from benchweb.web.schedules.fields.durations import DurationField
from benchweb.web.schedules.fields.local_times import LOCAL_TIME, LocalTimeField
from benchweb.web.schedules.targets import (
    TARGET_DATA,
    TARGET_FIELDS,
    TARGETS,
    EndpointChoices,
    initial_target,
    modes_field,
)
from benchweb.web.shared.forms import PageForm, text_field
from benchweb.web.shared.words import arrangement_choices
from benchweb.web.shared.zones import zone_named

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

REPEATS = [("times", _("At a time of day")), ("cron", _("Cron expression or words")), ("every", _("At an interval"))]
# Which field of the form holds what a service blames, where they differ.
_FIELD_OF = {"window": "window_from", "deadline_seconds": "deadline", "slip_seconds": "slip"}
_FIELD_OF |= {"retry_pause_seconds": "retry_pause"}


def number(
    label: StrOrPromise, most: int, least: int = 0, help_text: StrOrPromise = "", **options: Any
) -> forms.IntegerField:
    """Return a field of a whole number."""
    widget = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
    return forms.IntegerField(
        label=label, min_value=least, max_value=most, help_text=help_text, widget=widget, **options
    )


class ScheduleForm(PageForm):
    """A schedule as the page asks for it; `values` is what the services take."""

    name = text_field(_("Name"), max_length=100, required=True, autofocus="autofocus")
    plan = forms.ModelChoiceField(
        label=_("Plan"),
        queryset=Plan.objects.none(),
        empty_label=_("Choose a plan"),
        error_messages={"required": _("Choose a plan to run."), "invalid_choice": _("This plan is archived.")},
    )
    target = forms.ChoiceField(label=_("Targets"), choices=TARGETS, initial="environment")
    pairs = forms.ModelMultipleChoiceField(
        label=_("Pairs"),
        queryset=Pair.objects.none(),
        required=False,
        error_messages={"invalid_choice": _("A selected pair has been archived: check the selection.")},
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        required=False,
        empty_label=_("Choose an environment"),
    )
    label = text_field(
        _("Label"), max_length=60, list="labels", help_text=_("Pairs whose two hosts both have this label.")
    )
    endpoints = EndpointChoices(
        label=_("Endpoints"),
        queryset=Environment.objects.none(),
        required=False,
        error_messages={"invalid_choice": _("A selected endpoint has been archived: check the selection.")},
    )
    mesh_environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        required=False,
        empty_label=_("The environment that most of their pairs use"),
        help_text=_("Missing pairs are created in it."),
    )
    source_modes = modes_field(_("From"))
    sink_modes = modes_field(_("To"))
    modes_environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        required=False,
        empty_label=_("Choose an environment"),
    )
    repeat = forms.ChoiceField(label=_("When"), choices=REPEATS, initial="times")
    at = time_of_day(_("Time"))
    days = days_field()
    cron = text_field(
        _("Cron expression"),
        max_length=200,
        spellcheck="false",
        help_text=_(
            "Minute, hour, day of the month, month, day of the week: 0 2 * * * is 02:00 every night. Or @daily, or "
            "words such as “Mondays and Thursdays at 6:30 pm”."
        ),
    )
    every = DurationField(
        _("Every"), help_text=_("30 min, 6 h, 1 day, or ISO 8601 such as PT30M; counted from its start.")
    )
    timezone = text_field(_("Time zone"), max_length=60, required=True, list="zones", spellcheck="false")
    starts_at = LocalTimeField(label=_("Starts"), required=False, help_text=_("If empty: immediately."))
    ends_at = LocalTimeField(label=_("Ends"), required=False, help_text=_("If empty: never."))
    max_runs = number(_("Maximum slots"), MAX_RUNS.most, MAX_RUNS.least, required=False)
    window_from = time_of_day(
        _("Window from"),
        _("Times outside the window have no slots. Enter both or neither; a window may span midnight."),
    )
    window_until = time_of_day(_("Window until"), _("A run starts only if it can finish by then."))
    blackouts = BlackoutsField()
    deadline = DurationField(
        _("Start within"), help_text=_("Runs that have not started within this time after their slot don't start.")
    )
    slip = DurationField(_("Maximum slip"), help_text=_("Allows a cron time to move away from a busy moment."))
    missed = forms.ChoiceField(label=_("Missed slots"), choices=Schedule.Missed.choices, initial=Schedule.Missed.SKIP)
    overlap = forms.ChoiceField(
        label=_("If the previous campaign is still running"),
        choices=Schedule.Overlap.choices,
        initial=Schedule.Overlap.QUEUE_ONE,
        required=False,
    )
    arrangement = forms.ChoiceField(
        label=_("Several pairs"), choices=arrangement_choices, initial=Campaign.Arrangement.RUNS, required=False
    )
    retries = number(
        _("Retries"), RETRIES.most, initial=DEFAULT_RETRIES, help_text=_("If an engine is unreachable or refuses.")
    )
    retry_pause = DurationField(_("Pause before retry"), initial=DEFAULT_RETRY_PAUSE_SECONDS)
    rerun_percent = number(
        _("Time for re-runs, %"),
        RERUN_PERCENT.most,
        initial=DEFAULT_RERUN_PERCENT,
        required=False,
        help_text=_("Share of the time of its own runs. Suspects are measured again within it; 0 turns re-runs off."),
    )
    confirm_runs = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        environments = Environment.objects.filter(archived_at=None)
        rows: dict[str, QuerySet[Any]] = {
            "plan": plans.plans_matching(),
            "pairs": selectors.pairs_matching(),
            "endpoints": selectors.endpoints_usable(),
            "environment": environments,
            "mesh_environment": environments,
            "modes_environment": environments,
        }
        for name, queryset in rows.items():
            self.fields[name].queryset = queryset  # type: ignore[attr-defined]
        # Asked for once: three fields offer the same.
        choices = [(row.pk, row.name) for row in environments]
        for name in ("environment", "mesh_environment", "modes_environment"):
            field = self.fields[name]
            field.widget.choices = [("", field.empty_label), *choices]  # type: ignore[attr-defined]
        modes = [(mode, mode) for mode in selectors.network_modes()]
        self.fields["source_modes"].choices = self.fields["sink_modes"].choices = modes  # type: ignore[attr-defined]

    @classmethod
    def of(cls, schedule: Schedule) -> Self:
        """Return the form filled with a schedule's values."""
        return cls(initial=_initial(schedule))

    def clean_timezone(self) -> str:
        """Check the zone here, for the form's local times need it."""
        try:
            return zone_checked(str(self.cleaned_data["timezone"])).key
        except TimingError as error:
            raise forms.ValidationError(error.message) from None

    def clean(self) -> dict[str, Any]:
        """Require what was chosen to be given, and read local times in the schedule's zone."""
        needed = {"target": self.target_fields(), "repeat": (_TYPED[self.chosen("repeat")],)}
        for choice, names in needed.items():
            for name in names:
                if choice in self.cleaned_data and name not in self.errors and not self.cleaned_data.get(name):
                    self.add_error(name, _MISSING[name])
        zone = zone_named(self.cleaned_data.get("timezone", "")) or ZoneInfo("UTC")
        for name in ("starts_at", "ends_at"):
            if naive := self.cleaned_data.get(name):
                self.cleaned_data[name] = naive.replace(tzinfo=zone)
        begin, end = self.cleaned_data.get("window_from"), self.cleaned_data.get("window_until")
        if (begin is None) != (end is None) and not {"window_from", "window_until"} & set(self.errors):
            self.add_error("window_until" if end is None else "window_from", _("A window needs both from and until."))
        return self.cleaned_data

    def chosen(self, name: str) -> str:
        """Return which of several is chosen, whether valid or not."""
        value = str(self[name].value() or "")
        return value if value in dict(self.fields[name].choices) else "environment" if name == "target" else "times"  # type: ignore[attr-defined]

    def values(self) -> dict[str, Any]:
        """Return the values as the services take them; of a form that isn't valid, those that are."""
        data = self.cleaned_data
        when = ("timezone", "starts_at", "ends_at", "max_runs", "missed", "overlap", "blackouts", "rerun_percent")
        plain = ("name", "plan", "arrangement", "retries", *when)
        values = {name: data[name] for name in plain if data.get(name) not in (None, "")}
        for name, seconds in (("deadline", "deadline_seconds"), ("slip", "slip_seconds")):
            values[seconds] = data.get(name)
        values["slip_seconds"] = values["slip_seconds"] or 0
        pause = data.get("retry_pause")
        values["retry_pause_seconds"] = DEFAULT_RETRY_PAUSE_SECONDS if pause is None else pause
        values["window"] = _window(data)
        values["confirm_runs"] = data.get("confirm_runs")
        repeat = self.chosen("repeat")
        every = f"PT{data['every']}S" if data.get("every") else ""
        values |= {
            "cron": data.get("cron", "") if repeat == "cron" else cron_of_picked(data) if repeat == "times" else "",
            "every": every if repeat == "every" else "",
        }
        return values | {"target": TARGET_DATA[self.chosen("target")](data)}

    def target_fields(self) -> tuple[str, ...]:
        """Return the fields that the chosen kind of target reads."""
        return TARGET_FIELDS[self.chosen("target")]

    def field_of(self, field: str) -> str:
        """Return the form's name of the field that a service blames."""
        root = field.split(".", maxsplit=1)[0]
        if root in ("target", "pairs", "environment", "label", "mesh"):
            return self.target_fields()[0]
        if root == "cron" and self.chosen("repeat") == "times":
            return "at"
        return _FIELD_OF.get(root, root)

    def refuse(self, field: str, message: str, url: str = "") -> None:
        """Show a refusal at the form's own field."""
        super().refuse(self.field_of(field), message, url)


# The field that holds when it comes due, by the choice.
_TYPED = {"times": "at", "cron": "cron", "every": "every"}
_MISSING = {
    "at": _("Enter a time of day, such as 02:00."),
    "pairs": _("Choose at least one pair."),
    "environment": _("Choose an environment."),
    "label": _("Enter a host label."),
    "endpoints": _("Choose at least two endpoints."),
    "source_modes": _("Choose at least one source mode."),
    "sink_modes": _("Choose at least one sink mode."),
    "modes_environment": _("Choose an environment."),
    "cron": _("Enter a cron expression, such as 0 2 * * *, or words such as “every night at 02:00”."),
    "every": _("Enter an interval, such as 30 min."),
}


def _window(data: dict[str, Any]) -> dict[str, str] | None:
    begin, end = data.get("window_from"), data.get("window_until")
    return {"from": begin.isoformat(), "until": end.isoformat()} if begin and end else None


_SAME = [
    *("name", "plan", "cron", "every", "timezone", "max_runs", "missed", "overlap", "arrangement"),
    *("window_from", "window_until", "blackouts", "retries", "rerun_percent"),
]


def _initial(schedule: Schedule) -> dict[str, Any]:
    zone = zone_named(schedule.timezone) or ZoneInfo("UTC")
    initial = {name: getattr(schedule, name) for name in _SAME}
    for name in ("starts_at", "ends_at"):
        moment = getattr(schedule, name)
        initial[name] = moment and timezone.localtime(moment, zone).strftime(LOCAL_TIME)
    initial |= {"deadline": schedule.deadline_seconds, "slip": schedule.slip_seconds or None}
    initial |= {"retry_pause": schedule.retry_pause_seconds, "confirm_runs": schedule.confirmed_runs}
    initial |= picked_from(schedule.cron) or {"repeat": "cron" if schedule.cron else "every"}
    return initial | initial_target(schedule.target)
