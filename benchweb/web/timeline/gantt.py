"""The Gantt picture of a schedule's campaign to come: who has which host when."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from benchweb.common.formatting import duration
from benchweb.schedules.forecasts.feasibility import Feasibility
from benchweb.web.shared.zones import zone_named
from benchweb.web.timeline.lanes import Bar, Lane, TimelineLanes, lanes_of

# Of a mesh of 200 hosts the first ones tell the story.
MOST_LANES = 24


def gantt(outlook: Feasibility, zone_name: str) -> TimelineLanes | None:
    """Draw the campaign's resources in the schedule's zone, from its slot to its end; None when it has no bars."""
    if not outlook.bars or outlook.starts_at is None:
        return None
    by_resource: dict[str, list[Bar]] = {}
    for planned in outlook.bars:
        label = f"{planned.who} · {duration((planned.ends - planned.begins).total_seconds())}"
        bar = Bar(planned.begins, planned.ends, "planned" if planned.is_own else "blocked", label)
        by_resource.setdefault(planned.resource, []).append(bar)
    end = max(bar.ends for bar in outlook.bars)
    return lanes_of(
        _("The next campaign, by host"),
        [Lane(resource, bars) for resource, bars in by_resource.items()],
        begin=outlook.starts_at,
        end=max(end, outlook.starts_at + timedelta(seconds=1)),
        zone=zone_named(zone_name) or ZoneInfo("UTC"),
        most=MOST_LANES,
    )
