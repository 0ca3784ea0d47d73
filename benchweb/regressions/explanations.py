"""Find what may have caused an alert: what else changed between the last good run and the first bad one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from benchweb.annotations.selectors import AnnotationRow, annotations_between
from benchweb.hosts.facts.differences import differences
from benchweb.hosts.facts.interfaces import used_by
from benchweb.hosts.models import Pair
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.selectors import facts_of_runs
from benchweb.runs.models import Run

# Of an alert with hundreds of series these tell the story.
_MOST_RUNS = 20


@dataclass(frozen=True)
class ChangedFacts:
    """A host with what changed on it between two runs, in words."""

    host_id: int
    host: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """All that coincides with an alert; that it is the cause is for people to say."""

    facts: list[ChangedFacts]
    # The plan's versions of the last good run and of the first bad one, where they differ.
    plan_versions: tuple[int, int] | None
    annotations: list[AnnotationRow]


# What a part of an alert comes with, to be explained.
EXPLAINED_BY = (
    "last_good_run__plan_version",
    "first_bad_run__plan_version",
    "first_bad_run__pair__source__host",
    "first_bad_run__pair__sink__host",
)


def explanation(alert: Alert, parts: Sequence[AlertSeries] | None = None) -> Explanation:
    """Return what else changed when an alert began; some queries, whatever the number of series.

    Parts that were read before come with EXPLAINED_BY.
    """
    if parts is None:
        parts = list(alert.series.exclude(last_good_run=None).select_related(*EXPLAINED_BY))
    between = {(part.last_good_run_id, part.first_bad_run_id): part for part in parts if part.last_good_run_id}
    runs = list(between.values())[:_MOST_RUNS]
    return Explanation(_facts(runs), _plan_versions(runs), _annotations(alert, runs))


def _facts(parts: Sequence[AlertSeries]) -> list[ChangedFacts]:
    ids = {run_id for part in parts for run_id in (part.last_good_run_id, part.first_bad_run_id) if run_id}
    documents = facts_of_runs(sorted(ids)) if ids else {}
    by_host: dict[int, ChangedFacts] = {}
    for part in parts:
        before, after = documents.get(part.last_good_run_id or 0), documents.get(part.first_bad_run_id)
        if before is None or after is None:
            continue
        pair = part.first_bad_run.pair
        for end, old, new in zip((pair.source, pair.sink), before, after, strict=True):
            words = tuple(differences(old, new, used_by(end)))
            if words:
                by_host.setdefault(end.host_id, ChangedFacts(end.host_id, end.host.name, words))
    return list(by_host.values())


def _plan_versions(parts: Sequence[AlertSeries]) -> tuple[int, int] | None:
    for part in parts:
        before = part.last_good_run.plan_version if part.last_good_run else None
        after = part.first_bad_run.plan_version
        # Of two plans that measure the same series the numbers say nothing.
        if before and before.plan_id == after.plan_id and before.number != after.number:
            return before.number, after.number
    return None


def _annotations(alert: Alert, parts: Sequence[AlertSeries]) -> list[AnnotationRow]:
    pairs: list[Pair] = [part.first_bad_run.pair for part in parts]
    times = [at for part in parts for run in (part.last_good_run, part.first_bad_run) if run and (at := _run_time(run))]
    return annotations_between(
        min(times, default=alert.begun_at),
        max(times, default=alert.begun_at),
        environments={pair.environment_id for pair in pairs},
        hosts={host_id for pair in pairs for host_id in (pair.source.host_id, pair.sink.host_id)},
        pairs={pair.pk for pair in pairs},
    )


def _run_time(run: Run) -> datetime:
    return run.started_at or run.created_at
