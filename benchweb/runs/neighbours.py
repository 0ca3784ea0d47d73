"""Runs that another is worth comparing with: before it, last night's, and the same plan elsewhere."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, OuterRef

from benchweb.runs.models import OPEN_STATES, Run, State, Trial
from benchweb.runs.selectors import run_lines

_EARLIER, _ELSEWHERE = 3, 8
# Nightly runs start when their turn comes: the one before began some hours more or less than a day earlier.
_NIGHT = timedelta(hours=20)
_WEEK = timedelta(days=6, hours=20)


@dataclass(frozen=True)
class Neighbours:
    """What a run may be compared with, each run once; None and empty where there is none."""

    earlier: list[Run]
    night_before: Run | None
    week_before: Run | None
    elsewhere: list[Run]


def neighbours(run: Run) -> Neighbours:
    """Find a run's neighbours by its pair and plan, whatever the version; four queries, each by an index."""
    here = run_lines().filter(pair=run.pair_id, plan_version__plan=run.plan_version.plan_id, pk__lt=run.pk)
    # One that gave nothing has nothing to compare.
    has_result = Exists(Trial.objects.filter(run=OuterRef("pk"), state=State.FINISHED))
    here = here.exclude(state__in=OPEN_STATES).filter(has_result).order_by("-pk")
    earlier = list(here[:_EARLIER])
    nights = [here.filter(created_at__lte=run.created_at - ago).first() for ago in (_NIGHT, _WEEK)]
    known = {each.pk for each in earlier}
    night, week = (None if each is None or each.pk in known else each for each in nights)
    elsewhere = run_lines().filter(campaign=run.campaign_id).exclude(pk=run.pk).order_by("pk")[:_ELSEWHERE]
    return Neighbours(earlier, night, None if night and week and night.pk == week.pk else week, list(elsewhere))
