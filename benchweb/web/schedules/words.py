"""Schedules in words: when they come due, and what they run on."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSimError
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog.translation import sentence_space
from benchweb.charts.comparison.sides import sides_query
from benchweb.common.formatting import duration
from benchweb.hosts.models import Environment
from benchweb.schedules.errors import TimingError
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.cron import cron_instants, leaves_months_out
from benchweb.schedules.timing.durations import duration_seconds
from benchweb.schedules.timing.localtime import zone_of
from benchweb.web.schedules.cron_words import cron_words
from benchweb.web.shared.archiving import counted


def when_words(cron: str, every: str) -> str:
    """Read a normalised rule aloud: At 02:00 every day; Every 30 min. One that can't be read stays as it is."""
    try:
        if not cron:
            return _("Every {length}").format(length=duration(duration_seconds(every)))
        return cron_words(cron)
    # Whatever cronsim doesn't foresee: the expression is checked elsewhere, with words for what is wrong.
    except (CronSimError, TimingError, AssertionError, TypeError, ValueError, IndexError):
        return cron


def weeks_compared_url(schedule: Schedule) -> str:
    """Return the page that compares the last seven days of a schedule's plan, where it runs, with the seven before."""
    conditions = {"plan": str(schedule.plan_id)}
    form, value = next(iter(schedule.target.items()))
    if form in ("environment", "label"):
        conditions[form] = str(value)
    elif form == "pairs" and len(value) == 1:
        conditions["pair"] = str(value[0])
    query = sides_query({**conditions, "from": "-14d", "to": "-7d"}, {**conditions, "from": "-7d"})
    return f"{reverse('web:compare')}?{query}"


def cron_hint(cron: str, timezone: str = "UTC") -> str:
    """Say what surprises in an expression: months that lack its day, and how its two fields of days are taken."""
    if not cron:
        return ""
    try:
        lacking = leaves_months_out(cron)
        hints = [_("Months without that day have no slot: use L for the last day of every month.")] if lacking else []
        return sentence_space().join([*hints, *_day_dates(cron, zone_of(timezone))])
    except TimingError:
        return ""


def _day_dates(cron: str, zone: ZoneInfo) -> list[str]:
    """Say with dates what a day of the month beside a day of the week means."""
    fields = cron.split()
    day, weekday = fields[-3], fields[-1]
    if day == "*" or weekday == "*":
        return []
    if day.startswith("*") or weekday.startswith("*"):
        both = _("Both must match, the day of the month and the day of the week: next {dates}.")
        return [both.format(dates=_dates(cron, zone, 3))]
    either = _("Either day is enough: next by day of the month {by_day}; next by day of the week {by_weekday}.")
    of_day, of_weekday = " ".join([*fields[:-1], "*"]), " ".join([*fields[:-3], "*", *fields[-2:]])
    return [either.format(by_day=_dates(of_day, zone, 2), by_weekday=_dates(of_weekday, zone, 2))]


def _dates(cron: str, zone: ZoneInfo, count: int) -> str:
    times = islice(cron_instants(cron, zone, now()), count)
    form = pgettext("a date without a year", "D j M")
    return ", ".join(date_format(localtime(at, zone), form) for at in times)


def bounds_words(schedule: Schedule) -> str:
    """Say the window, the blackouts and the bounds of a schedule; empty when it has none."""
    parts = []
    if schedule.window_from and schedule.window_until:
        parts.append(
            _("only from {begin} until {end}").format(
                begin=f"{schedule.window_from:%H:%M}", end=f"{schedule.window_until:%H:%M}"
            )
        )
    if schedule.blackouts:
        spans = (
            _("{begin} to {end}").format(
                begin=blackout["from"].replace("T", " "), end=blackout["until"].replace("T", " ")
            )
            for blackout in schedule.blackouts
        )
        parts.append(_("not from {spans}").format(spans=", ".join(spans)))
    if schedule.max_runs:
        parts.append(_("at most {slots}").format(slots=counted(schedule.max_runs, "slot")))
    if schedule.deadline_seconds:
        parts.append(_("started within {length}").format(length=duration(schedule.deadline_seconds)))
    if schedule.slip_seconds:
        parts.append(_("up to {length} later").format(length=duration(schedule.slip_seconds)))
    return ", ".join(parts)


def target_words(target: Mapping[str, Any], environments: Mapping[int, str]) -> str:
    """Say what a schedule runs on; `environments` has the names by id."""
    mesh = target.get("mesh", {})
    inside = (
        _(" in {environment}").format(environment=environments.get(mesh["environment"], _("an environment")))
        if mesh.get("environment")
        else ""
    )
    if "pairs" in target:
        return counted(len(target["pairs"]), "pair")
    if "environment" in target:
        return _("all pairs of {environment}").format(
            environment=environments.get(target["environment"], _("an environment"))
        )
    if "label" in target:
        return _("all pairs of hosts labelled {label}").format(label=target["label"])
    if "endpoints" in mesh:
        return _("full mesh of {endpoints}{inside}").format(
            endpoints=counted(len(mesh["endpoints"]), "endpoint"), inside=inside
        )
    return _("{sources} to {sinks}{inside}").format(
        sources=", ".join(mesh.get("source_modes", [])), sinks=", ".join(mesh.get("sink_modes", [])), inside=inside
    )


def environment_names(targets: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return the names of the environments that targets speak of; one query."""
    ids = {target.get("environment") or target.get("mesh", {}).get("environment") for target in targets}
    return dict(Environment.objects.filter(pk__in=ids - {None}).values_list("pk", "name"))
