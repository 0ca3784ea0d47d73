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


@register.inclusion_tag("partials/pair_link.html")
def pair_link(*, is_paired: object = None, query: str = "", css: str = "") -> dict[str, object]:
    """Link to where a pair is added, or a host while there is nothing to be paired; one query unless `is_paired`."""
    is_pairable = bool(is_paired) or steps.step_to_pair() == steps.Step.PAIR
    return {"is_pairable": is_pairable, "query": query, "css": css}


@register.inclusion_tag("partials/pair_step.html")
def pair_step(*, query: str = "") -> dict[str, object]:
    """Say that a pair is to be made, or what that needs first, with a link to it; one query."""
    return {"step": steps.step_to_pair().value, "query": query}
