"""The Gantt picture of a schedule's campaign to come: who has which host when."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from benchweb.common.formatting import duration
from benchweb.schedules.forecasts.feasibility import Feasibility
from benchweb.web.shared.zones import zone_named
from benchweb.web.timeline.lanes import Bar, Lane, Lanes, lanes_of

# Of a mesh of 200 hosts the first ones tell the story.
SHOWN = 24


def gantt(found: Feasibility, zone_name: str) -> Lanes | None:
    """Draw the campaign's resources in the schedule's zone, from its slot to its end; None when it has no bars."""
    if not found.bars or found.starts_at is None:
        return None
    by_resource: dict[str, list[Bar]] = {}
    for each in found.bars:
        label = f"{each.who} · {duration((each.ends - each.begins).total_seconds())}"
        bar = Bar(each.begins, each.ends, "planned" if each.is_own else "blocked", label)
        by_resource.setdefault(each.resource, []).append(bar)
    end = max(each.ends for each in found.bars)
    return lanes_of(
        _("The next campaign, by host"),
        [Lane(resource, bars) for resource, bars in by_resource.items()],
        begin=found.starts_at,
        end=max(end, found.starts_at + timedelta(seconds=1)),
        zone=zone_named(zone_name) or ZoneInfo("UTC"),
        shown=SHOWN,
    )
