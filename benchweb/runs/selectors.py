"""Read runs and campaigns: for the API and the pages alike."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from benchweb.common.names import name_key, searched
from benchweb.common.rows import row_id
from benchweb.hosts.models import Pair
from benchweb.labels import with_label
from benchweb.plans.models import PlanVersion
from benchweb.plans.selectors import versions_of_size
from benchweb.runs.lists import RunLine, run_lines
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, Run, State, Trial

# Everything that naming a run takes, in the same query.
_NAMES = ("plan_version__plan", "pair__source__host", "pair__sink__host", "pair__environment")

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
    label: str = ""
    # Of messages, requests or connections' payloads: whatever its plan's kinds sweep.
    size_bytes: int | None = None
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
    if filters.label:
        runs = with_label(runs, filters.label)
    if filters.size_bytes is not None:
        runs = runs.filter(plan_version__in=versions_of_size(filters.size_bytes))
    # Every word must be found somewhere, so that "sizes host-a" narrows and doesn't widen.
    for word in searched(filters.text).split()[:MOST_WORDS]:
        runs = runs.filter(_word(word))
    return runs.order_by("-pk")


def run_detail(run_id: int) -> Run | None:
    """Return a run with its plan version, pair, endpoints, hosts and environment; one query."""
    return runs_named().filter(pk=run_id).first()


def runs_named() -> "QuerySet[Run, Run]":
    """Return all runs with the models that they belong to, for what works with a run; lists read `run_lines`."""
    return Run.objects.select_related(*_NAMES, "campaign")


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


def before_and_after(run: Run) -> tuple[int | None, int | None]:
    """Return the ids of the runs of the same pair and plan around a run, None where there is none; two queries."""
    same = Run.objects.filter(pair=run.pair_id, plan_version__plan=run.plan_version.plan_id).values_list(
        "pk", flat=True
    )
    return same.filter(pk__lt=run.pk).order_by("-pk").first(), same.filter(pk__gt=run.pk).order_by("pk").first()


_EARLIER, _ELSEWHERE = 3, 8
# Nightly runs start when their turn comes: the one before began some hours more or less than a day earlier.
_NIGHT = timedelta(hours=20)
_WEEK = timedelta(days=6, hours=20)


@dataclass(frozen=True)
class Neighbours:
    """What a run may be compared with, each run once; None and empty where there is none."""

    earlier: list[RunLine]
    night_before: RunLine | None
    week_before: RunLine | None
    elsewhere: list[RunLine]


def neighbours(run: Run) -> Neighbours:
    """Find a run's neighbours by its pair and plan, whatever the version; four queries, each by an index."""
    here = Run.objects.filter(pair=run.pair_id, plan_version__plan=run.plan_version.plan_id, pk__lt=run.pk)
    # One that gave nothing has nothing to compare.
    has_result = Exists(Trial.objects.filter(run=OuterRef("pk"), state=State.FINISHED))
    here = here.exclude(state__in=OPEN_STATES).filter(has_result).order_by("-pk")
    earlier = run_lines(here[:_EARLIER])
    nights = [
        next(iter(run_lines(here.filter(created_at__lte=run.created_at - ago)[:1])), None) for ago in (_NIGHT, _WEEK)
    ]
    known = {run.pk for run in earlier}
    night, week = (None if night is None or night.pk in known else night for night in nights)
    elsewhere = Run.objects.filter(campaign=run.campaign_id).exclude(pk=run.pk).order_by("pk")[:_ELSEWHERE]
    return Neighbours(earlier, night, None if night and week and night.pk == week.pk else week, run_lines(elsewhere))


def environments_of_run(*, run_id: int, **_: object) -> Iterable[int]:
    """Return the environment of the run that an address names, read when it matters."""
    return environments_of_runs([run_id])


def environments_of_runs(run_ids: Collection[int]) -> Iterable[int]:
    """Return the environments of runs, read when it matters."""
    return Run.objects.filter(pk__in=run_ids).values_list("pair__environment_id", flat=True).distinct()


def environments_of_campaign(*, campaign_id: int, **_: object) -> Iterable[int]:
    """Return the environments of the campaign that an address names, read when it matters."""
    return environments_of_campaigns([campaign_id])


def environments_of_campaigns(campaign_ids: Collection[int]) -> Iterable[int]:
    """Return the environments of campaigns, read when it matters."""
    return Run.objects.filter(campaign__in=campaign_ids).values_list("pair__environment_id", flat=True).distinct()
