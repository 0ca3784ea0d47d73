"""Schedules in words: when they come due, and what they run on."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from cronsim import CronSim, CronSimError

from benchweb.hosts.models import Environment
from benchweb.schedules.durations import duration_seconds
from benchweb.schedules.errors import TimingError
from benchweb.schedules.models import Schedule
from benchweb.web.archiving import counted
from benchweb.web.formatting import duration

_ANY_TIME = datetime(2000, 1, 1)


def when_words(cron: str, every: str) -> str:
    """Read a rule aloud: At 02:00 every day; Every 30 min. Empty when it can't be read."""
    try:
        return CronSim(cron, _ANY_TIME).explain() if cron else f"Every {duration(duration_seconds(every))}"
    # Whatever cronsim doesn't foresee: the expression is checked elsewhere, with words for what is wrong.
    except (CronSimError, TimingError, AssertionError, TypeError, ValueError, IndexError):
        return cron


def bounds_words(schedule: Schedule) -> str:
    """Say the window, the blackouts and the bounds of a schedule; empty when it has none."""
    parts = []
    if schedule.window_from and schedule.window_until:
        parts.append(f"only from {schedule.window_from:%H:%M} until {schedule.window_until:%H:%M}")
    if schedule.blackouts:
        spans = (
            f"{each['from'].replace('T', ' ')} to {each['until'].replace('T', ' ')}" for each in schedule.blackouts
        )
        parts.append(f"not from {', '.join(spans)}")
    if schedule.max_runs:
        parts.append(f"at most {counted(schedule.max_runs, 'slot')}")
    if schedule.deadline_seconds:
        parts.append(f"begun within {duration(schedule.deadline_seconds)}")
    if schedule.slip_seconds:
        parts.append(f"up to {duration(schedule.slip_seconds)} later")
    return ", ".join(parts)


def target_words(target: Mapping[str, Any], environments: Mapping[int, str]) -> str:
    """Say what a schedule runs on; `environments` has the names by id."""
    mesh = target.get("mesh", {})
    inside = f" in {environments.get(mesh['environment'], 'an environment')}" if mesh.get("environment") else ""
    if "pairs" in target:
        return counted(len(target["pairs"]), "pair")
    if "environment" in target:
        return f"all pairs of {environments.get(target['environment'], 'an environment')}"
    if "label" in target:
        return f"all pairs between hosts labelled {target['label']}"
    if "endpoints" in mesh:
        return f"a mesh of {counted(len(mesh['endpoints']), 'endpoint')}{inside}"
    return f"{', '.join(mesh.get('source_modes', []))} to {', '.join(mesh.get('sink_modes', []))}{inside}"


def environment_names(targets: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Give the names of the environments that targets speak of; one query."""
    ids = {target.get("environment") or target.get("mesh", {}).get("environment") for target in targets}
    return dict(Environment.objects.filter(pk__in=ids - {None}).values_list("pk", "name"))
