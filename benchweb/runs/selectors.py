"""Read runs and campaigns: for the API and the pages alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from benchweb.common.names import name_key, searched
from benchweb.common.rows import row_id
from benchweb.hosts.models import Pair
from benchweb.hosts.selectors import LABEL_FIELDS, of_ends
from benchweb.plans.models import PlanVersion
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, Run, State, Trial

# Everything that naming a run takes, in the same query.
_NAMES = ("plan_version__plan", "pair__source__host", "pair__sink__host", "pair__environment")
# What a line of a list shows of a run; all columns of its seven tables take as long to read as to show.
_OF_LINES = (
    *(
        "campaign",
        "state",
        "reason",
        "reason_data",
        "waiting_for",
        "waiting_for_data",
        "created_at",
        "not_before",
        "attempts",
        "started_at",
        "finished_at",
    ),
    *("plan_version__number", "plan_version__plan__name", "pair__environment__name"),
    *of_ends(*LABEL_FIELDS, pair="pair__"),
)


# So many words of a search are looked for, each by two short queries.
MOST_WORDS = 8
MOST_IDS = 500


@dataclass(frozen=True)
class RunFilters:
    """What a list of runs is narrowed to; None and empty leave it as it is."""

    state: str = ""
    plan: int | None = None
    pair: int | None = None
    environment: int | None = None
    host: int | None = None
    campaign: int | None = None
    text: str = ""


def runs_matching(filters: RunFilters) -> "QuerySet[Run, Run]":
    """Return the runs that match, newest first, with all that names them; the caller slices."""
    wanted = {
        "state": filters.state or None,
        "plan_version__plan": filters.plan,
        "pair": filters.pair,
        "pair__environment": filters.environment,
        "campaign": filters.campaign,
    }
    runs = runs_named().filter(**{field: value for field, value in wanted.items() if value is not None})
    if filters.host is not None:
        runs = runs.filter(Q(pair__source__host=filters.host) | Q(pair__sink__host=filters.host))
    # Every word must be found somewhere, so that "sizes host-a" narrows and doesn't widen.
    for word in searched(filters.text).split()[:MOST_WORDS]:
        runs = runs.filter(_word(word))
    return runs.order_by("-pk")


def run_detail(run_id: int) -> Run | None:
    """Return a run with its plan version, pair, endpoints, hosts and environment; one query."""
    return runs_named().filter(pk=run_id).first()


def runs_named() -> "QuerySet[Run, Run]":
    """Return all runs with the rows that name them."""
    return Run.objects.select_related(*_NAMES)


def run_lines() -> "QuerySet[Run, Run]":
    """Return all runs as lists show them: named, with when and how they went; anything else would be a query more."""
    return runs_named().only(*_OF_LINES)


def campaign_state(states: Sequence[str]) -> State:
    """Derive a campaign's state from its runs': it has none of its own that could disagree."""
    if all(state == State.PENDING for state in states):
        return State.PENDING
    if any(state in OPEN_STATES for state in states):
        return State.RUNNING
    # A mixed one is called what the worst of its runs is.
    return next((state for state in FAULTY_STATES if state in states), State.FINISHED)


def _word(word: str) -> Q:
    run_id = row_id(word)
    return _word_in_names(word) if run_id is None else Q(pk=run_id) | _word_in_names(word)


def _word_in_names(word: str) -> Q:
    """Match the runs whose pair, environment or plan has this word in its name."""
    key = name_key(word)
    pairs = Pair.objects.filter(
        Q(source__host__name_key__contains=key)
        | Q(sink__host__name_key__contains=key)
        | Q(environment__name_key__contains=key)
    )
    versions = PlanVersion.objects.filter(plan__name__icontains=word)
    return Q(pair__in=_few_ids(pairs)) | Q(plan_version__in=_few_ids(versions))


def _few_ids(rows: "QuerySet[Any, Any]") -> "list[int] | QuerySet[Any, Any]":
    """Return the ids where they are few, so that their runs are read by index and not among all runs.

    Of many the newest runs soon match, whatever the order of reading.
    """
    ids = list(rows.order_by().values_list("pk", flat=True)[: MOST_IDS + 1])
    return ids if len(ids) <= MOST_IDS else rows.order_by().values("pk")


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
