"""Template tag that names the next thing to do, for pages that are empty because nothing was measured yet."""

from django import template

from benchweb.web import next_step as steps

register = template.Library()


@register.inclusion_tag("partials/next_step.html")
def next_step(*, is_paired: object = None) -> dict[str, str]:
    """Say the next step with a button that leads to it; one query, which only empty pages pay for.

    A page that knows of pairs says so: it has something to launch, and no query is needed.
    """
    return {"step": (steps.Step.LAUNCH if is_paired else steps.next_step()).value}
