"""Template tag that names the next thing to do, for pages that are empty because nothing was measured yet."""

from collections.abc import Mapping
from typing import Any

from django import template

from benchweb.web.shared import next_step as steps

register = template.Library()
_CACHE_KEY = "step to a pair of this page"


@register.inclusion_tag("shared/partials/next_step.html", takes_context=True)
def next_step(context: Mapping[str, Any], *, is_paired: object = None, schedule: str = "") -> dict[str, object]:
    """Say the next step with a button that leads to it; one query, which only empty pages pay for.

    A page that knows of pairs says so: it has something to launch, and no query is needed. With the words `schedule`
    a schedule is made, where nothing is missing for it.
    """
    if is_paired:
        return {"step": steps.NextStep.LAUNCH.value, "can": context["can"]}
    step, done = steps.next_step()
    # What comes after a pair needs no host any more.
    is_before = step in (steps.NextStep.HOST, steps.NextStep.SECOND_HOST)
    host = steps.lone_host() if step == steps.NextStep.SECOND_HOST else None
    context["request"].__dict__[_CACHE_KEY] = (step if is_before else steps.NextStep.PAIR), host
    is_for_schedule = step == steps.NextStep.LAUNCH and schedule
    return {
        "step": step.value,
        "can": context["can"],
        "schedule": schedule,
        "stages": [] if is_for_schedule else steps.stages(step, done),
        "host": host,
    }


@register.inclusion_tag("pairs/partials/link.html", takes_context=True)
def pair_link(
    context: Mapping[str, Any], *, is_paired: object = None, query: str = "", css: str = ""
) -> dict[str, object]:
    """Link to where a pair is added, or a host while there is nothing to be paired; one query unless `is_paired`."""
    is_pairable = bool(is_paired) or _step_to_pair(context)[0] == steps.NextStep.PAIR
    return {"can": context["can"], "is_pairable": is_pairable, "query": query, "css": css}


@register.inclusion_tag("pairs/partials/step.html", takes_context=True)
def pair_step(context: Mapping[str, Any], *, query: str = "") -> dict[str, object]:
    """Say that a pair is to be made, or what that needs first, with a link to it; one query."""
    step, host = _step_to_pair(context)
    return {"can": context["can"], "step": step.value, "query": query, "host": host}


def _step_to_pair(context: Mapping[str, Any]) -> tuple[steps.NextStep, int | None]:
    """Ask once for a page, which may say it at several places."""
    cache: dict[str, tuple[steps.NextStep, int | None]] = context["request"].__dict__
    if _CACHE_KEY not in cache:
        cache[_CACHE_KEY] = steps.step_to_pair()
    return cache[_CACHE_KEY]
