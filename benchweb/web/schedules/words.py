"""Schedules in words: when they come due, and what they run on."""

from collections.abc import Iterable, Mapping
from typing import Any

from cronsim import CronSimError
from django.utils.translation import gettext as _

from benchweb.common.formatting import duration
from benchweb.hosts.models import Environment
from benchweb.schedules.errors import TimingError
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.cron import leaves_months_out
from benchweb.schedules.timing.durations import duration_seconds
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


def cron_hint(cron: str) -> str:
    """Say that some months lack a day that the expression names; empty where none does."""
    try:
        lacking = bool(cron) and leaves_months_out(cron)
    except TimingError:
        return ""
    if not lacking:
        return ""
    return _("Months without that day have no slot: use L for the last day of every month.")


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
