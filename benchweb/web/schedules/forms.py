"""The form of schedules: what to run on, when, and what to do about what gets in the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchweb.hosts import selectors
from benchweb.hosts.models import Endpoint, Environment, Pair
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
from benchweb.web.schedules.blackouts import BlackoutsField
from benchweb.web.schedules.day_times import cron_of_picked, days_field, picked_from, time_of_day
from benchweb.web.schedules.durations import DurationField
from benchweb.web.shared.forms import PageForm, text_field
from benchweb.web.shared.words import arrangement_choices
from benchweb.web.shared.zones import zone_named

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

TARGETS = [
    ("pairs", _("Individual pairs")),
    ("environment", _("All pairs of an environment")),
    ("label", _("All pairs of hosts with a label")),
    ("mesh", _("Full mesh of selected endpoints")),
    ("modes", _("Network modes: each source mode to each sink mode")),
]
REPEATS = [("times", _("At a time of day")), ("cron", _("Cron expression or words")), ("every", _("At an interval"))]
# With seconds: an interval counts from its start, and an edit must not move it.
_LOCAL = "%Y-%m-%dT%H:%M:%S"
# Which field of the form holds what a service blames, where they differ.
_FIELD_OF = {"window": "window_from", "deadline_seconds": "deadline", "slip_seconds": "slip"}
_FIELD_OF |= {"retry_pause_seconds": "retry_pause"}


class EndpointChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # not subscriptable at run time
    """A choice of endpoints that says how each is reached."""

    def label_from_instance(self, endpoint: Endpoint) -> str:
        return f"{endpoint} · {endpoint.data_address or endpoint.control_address}"


class LocalTimeField(forms.CharField):
    """A date and time without a zone: the schedule's own is added when it is known."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def to_python(self, value: Any) -> Any:
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            raise forms.ValidationError(_("Enter a date and a time, such as 2026-12-24T02:00.")) from None
        if moment.tzinfo is not None or not 1970 <= moment.year <= 2200:
            raise forms.ValidationError(
                _("Enter a date from 1970 to 2200 without a time zone: the schedule's zone is used.")
            )
        return moment


def number(
    label: StrOrPromise, most: int, least: int = 0, help_text: StrOrPromise = "", **options: Any
) -> forms.IntegerField:
    """Return a field of a whole number."""
    widget = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
    return forms.IntegerField(
        label=label, min_value=least, max_value=most, help_text=help_text, widget=widget, **options
    )


def modes_field(label: StrOrPromise) -> forms.MultipleChoiceField:
    """Return a field of network modes as boxes."""
    return forms.MultipleChoiceField(
        label=label,
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        error_messages={"invalid_choice": _("No endpoint has the mode %(value)s.")},
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
    target = forms.ChoiceField(label=_("Targets"), choices=TARGETS, initial="pairs")
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
        for choice, needs in (("target", _NEEDED[self.chosen("target")]), ("repeat", (_TYPED[self.chosen("repeat")],))):
            for name in needs:
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
        return value if value in dict(self.fields[name].choices) else "pairs" if name == "target" else "times"  # type: ignore[attr-defined]

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
        return values | {"target": _READ[self.chosen("target")](data)}

    def target_fields(self) -> tuple[str, ...]:
        """Return the fields that the chosen kind of target reads."""
        return _NEEDED[self.chosen("target")]

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


_NEEDED = {
    "pairs": ("pairs",),
    "environment": ("environment",),
    "label": ("label",),
    "mesh": ("endpoints",),
    "modes": ("source_modes", "sink_modes", "modes_environment"),
}
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


def _ids(rows: Any) -> list[int]:
    return sorted(row.pk for row in rows or ())


def _mesh(data: dict[str, Any]) -> dict[str, Any]:
    environment = data.get("mesh_environment")
    return {"endpoints": _ids(data.get("endpoints"))} | ({"environment": environment.pk} if environment else {})


def _modes(data: dict[str, Any]) -> dict[str, Any]:
    environment = data.get("modes_environment")
    modes = {name: data.get(name, []) for name in ("source_modes", "sink_modes")}
    return modes | ({"environment": environment.pk} if environment else {})


_READ: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "pairs": lambda data: {"pairs": _ids(data.get("pairs"))},
    "environment": lambda data: {"environment": data["environment"].pk if data.get("environment") else None},
    "label": lambda data: {"label": data.get("label", "")},
    "mesh": lambda data: {"mesh": _mesh(data)},
    "modes": lambda data: {"mesh": _modes(data)},
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
        initial[name] = moment and timezone.localtime(moment, zone).strftime(_LOCAL)
    initial |= {"deadline": schedule.deadline_seconds, "slip": schedule.slip_seconds or None}
    initial |= {"retry_pause": schedule.retry_pause_seconds, "confirm_runs": schedule.confirmed_runs}
    initial |= picked_from(schedule.cron) or {"repeat": "cron" if schedule.cron else "every"}
    return initial | _initial_target(schedule.target)


def _initial_target(target: dict[str, Any]) -> dict[str, Any]:
    mesh = target.get("mesh")
    if mesh is None:
        (name, value), *_ = target.items()
        return {"target": name, name: value}
    if "endpoints" in mesh:
        return {"target": "mesh", "endpoints": mesh["endpoints"], "mesh_environment": mesh.get("environment")}
    modes = {name: mesh.get(name, []) for name in ("source_modes", "sink_modes")}
    return {"target": "modes", "modes_environment": mesh.get("environment"), **modes}
