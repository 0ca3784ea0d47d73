"""Template tags for lanes: a night's are thousands of bars, so they are written here in one piece."""

from collections.abc import Sequence
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from benchweb.web.timeline.lanes import DrawnBar, Tick

register = template.Library()


@register.simple_tag
def lane_grid(ticks: Sequence[Tick]) -> SafeString:
    """Draw the lines of the axis through a lane."""
    lines = (f'<line class="lane-grid" x1="{tick.left}%" x2="{tick.left}%" y1="0" y2="20"></line>' for tick in ticks)
    return mark_safe("".join(lines))  # noqa: S308  (our own numbers)


@register.simple_tag
def lane_bars(bars: Sequence[DrawnBar]) -> SafeString:
    """Draw a lane's bars, each with its label, and a link where it leads somewhere."""
    # Labels and addresses are escaped; places are our own numbers, states our own words.
    return mark_safe("".join(map(_bar, bars)))  # noqa: S308


def _bar(drawn: DrawnBar) -> str:
    bar = drawn.bar
    # So short a bar that it has no inside is told by its height from one that is running.
    height = 'y="7" height="6"' if bar.state == "planned" else 'y="3" height="14"'
    attributes = f'x="{drawn.left}%" width="{drawn.width}%" {height}'
    shape = f'<rect class="bar bar-{bar.state}" {attributes}><title>{escape(bar.label)}</title></rect>'
    return f'<a href="{escape(bar.url)}">{shape}</a>' if bar.url else shape
