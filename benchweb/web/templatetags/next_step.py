"""Template tag that names the next thing to do, for pages that are empty because nothing was measured yet."""

from collections.abc import Mapping
from typing import Any

from django import template

from benchweb.web import next_step as steps

register = template.Library()


@register.inclusion_tag("partials/next_step.html", takes_context=True)
def next_step(context: Mapping[str, Any]) -> dict[str, str]:
    """Say the next step with a button that leads to it; one query, which only empty pages pay for.

    The overview has counted its pairs already, and has no query left.
    """
    counted = context.get("hosts")
    is_paired = isinstance(counted, dict) and counted.get("paired")
    return {"step": (steps.Step.LAUNCH if is_paired else steps.next_step()).value}
