"""Schedules in words: when they come due, and what they run on."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from cronsim import CronSim, CronSimError
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.formatting import duration
from benchweb.hosts.models import Environment
from benchweb.phrasebook import said
from benchweb.schedules.durations import duration_seconds
from benchweb.schedules.errors import TimingError
from benchweb.schedules.models import Schedule
from benchweb.web.archiving import counted

_ANY_TIME = datetime(2000, 1, 1)


def when_words(cron: str, every: str) -> str:
    """Read a rule aloud: At 02:00 every day; Every 30 min. Empty when it can't be read."""
    try:
        if not cron:
            return _("Every {length}").format(length=duration(duration_seconds(every)))
        english = CronSim(cron, _ANY_TIME).explain()
        words = said(english)
        # What can't be said in the reader's language is shown as it was written.
        return cron if words == english and get_language() != "en" else words
    # Whatever cronsim doesn't foresee: the expression is checked elsewhere, with words for what is wrong.
    except (CronSimError, TimingError, AssertionError, TypeError, ValueError, IndexError):
        return cron


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
            _("{begin} to {end}").format(begin=each["from"].replace("T", " "), end=each["until"].replace("T", " "))
            for each in schedule.blackouts
        )
        parts.append(_("not from {spans}").format(spans=", ".join(spans)))
    if schedule.max_runs:
        parts.append(_("at most {slots}").format(slots=counted(schedule.max_runs, "slot")))
    if schedule.deadline_seconds:
        parts.append(_("begun within {length}").format(length=duration(schedule.deadline_seconds)))
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
        return _("all pairs between hosts labelled {label}").format(label=target["label"])
    if "endpoints" in mesh:
        return _("a mesh of {endpoints}{inside}").format(
            endpoints=counted(len(mesh["endpoints"]), "endpoint"), inside=inside
        )
    return _("{sources} to {sinks}{inside}").format(
        sources=", ".join(mesh.get("source_modes", [])), sinks=", ".join(mesh.get("sink_modes", [])), inside=inside
    )


def environment_names(targets: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Give the names of the environments that targets speak of; one query."""
    ids = {target.get("environment") or target.get("mesh", {}).get("environment") for target in targets}
    return dict(Environment.objects.filter(pk__in=ids - {None}).values_list("pk", "name"))
