"""Remove the intervals of old runs' trials, which are most of what a trial takes; in batches, by the tick.

Metrics, histograms, flags, limits and facts stay, and so does all of a run that somebody or an alert points at.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, Func, JSONField, OuterRef, Q, QuerySet, Value
from django.utils import timezone

from benchweb.common.rows import fetch_value
from benchweb.imports.models import Import
from benchweb.regressions.models import Alert, AlertSeries, Baseline
from benchweb.reports.models import ReportRun
from benchweb.results.models import IntervalPart, Result
from benchweb.runs.models import Campaign, Run, State
from benchweb.sharing.models import Share
from benchweb.sharing.services import holds
from benchweb.site.values import site_setting

# A batch is so many runs, unless these have more trials than that, whose documents are rewritten.
_RUNS_AT_ONCE, _TRIALS_AT_ONCE = 20, 300
# What they take is estimated by so many; and so many are counted.
_RUNS_WEIGHED, _MOST_COUNTED = 50, 100_000
_WEIGHT = """
    SELECT coalesce(sum(
        pg_column_size(document) * length((document -> 'intervals')::text)::float / length(document::text)
      ), 0) + coalesce((
        SELECT sum(pg_column_size(part.intervals)) FROM results_intervalpart part
        JOIN runs_trial long_trial ON long_trial.id = part.trial_id WHERE long_trial.run_id = ANY(%(runs)s)
      ), 0) AS size_bytes
    FROM results_result result JOIN runs_trial trial ON trial.id = result.trial_id
    WHERE trial.run_id = ANY(%(runs)s)
"""
# Where this process goes on: what is kept isn't looked at again for each batch.
_since: list[datetime | None] = [None]


@dataclass(frozen=True)
class IntervalLosses:
    """How many runs lose their intervals, or at least so many, and about how many bytes of the database come back."""

    runs: int
    size_bytes: float
    is_more: bool


class _WithoutKey(Func):
    """A JSON object without one of its keys."""

    arg_joiner = " - "
    template = "(%(expressions)s)"
    output_field = JSONField()


def remove_old() -> int:
    """Remove the intervals of the oldest runs beyond the setting's days; return of how many. For the tick."""
    days = site_setting("INTERVAL_DAYS")
    if not days:
        return 0
    removed = _remove_some(_ended_before(days))
    if not removed:
        _since[0] = None
    return removed


def is_behind() -> bool:
    """Tell whether there are intervals of runs that are beyond the setting's days; one query."""
    days = site_setting("INTERVAL_DAYS")
    return bool(days) and runs_with_old_intervals(_ended_before(days)).exists()


def losses(days: int) -> IntervalLosses:
    """Return what keeping intervals for so many days would remove now; 0 keeps all."""
    runs = runs_with_old_intervals(_ended_before(days)) if days else Run.objects.none()
    number = runs.order_by()[: _MOST_COUNTED + 1].count()
    weighed = list(runs.order_by("-finished_at").values_list("pk", flat=True)[:_RUNS_WEIGHED])
    size_bytes = float(fetch_value(_WEIGHT, {"runs": weighed}))
    per_run = size_bytes / max(1, len(weighed))
    return IntervalLosses(min(number, _MOST_COUNTED), per_run * number, is_more=number > _MOST_COUNTED)


def runs_with_old_intervals(before: datetime) -> QuerySet[Run]:
    """Return the runs that ended before and may have intervals yet, but those that something points at.

    These are labelled, imported, shared, baselines, in a report, what an alert compares or had measured again, and
    those of several sources at once, whose common window is worked out from their intervals.
    """
    of_run = OuterRef("pk")
    alerts = AlertSeries.objects.filter(
        Q(last_good_run=of_run) | Q(first_bad_run=of_run) | Q(rerun=of_run) | Q(recovered_run=of_run)
    )
    return Run.objects.filter(
        Exists(Result.objects.filter(trial__run=of_run)),
        ~Exists(Import.objects.filter(run=of_run)),
        ~Exists(Share.objects.filter(holds(), run=of_run)),
        ~Exists(ReportRun.objects.filter(run=of_run)),
        ~Exists(Baseline.objects.filter(run=of_run)),
        ~Exists(alerts),
        ~Exists(Alert.objects.filter(confirmation=OuterRef("campaign"))),
        finished_at__lt=before,
        intervals_removed_at=None,
        labels=[],
    ).exclude(Q(state=State.NONSTART) | Q(campaign__arrangement=Campaign.Arrangement.TOGETHER))


@transaction.atomic
def _remove_some(before: datetime) -> int:
    rows = runs_with_old_intervals(before).order_by("finished_at", "pk")
    rows = rows.filter(finished_at__gte=_since[0]) if _since[0] else rows
    runs = list(rows.select_for_update(skip_locked=True, of=("self",))[:_RUNS_AT_ONCE])
    trials = dict(
        Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(number=Count("trials")).values_list("pk", "number")
    )
    ids: list[int] = []
    for run in runs:
        if ids and sum(trials[each] for each in [*ids, run.pk]) > _TRIALS_AT_ONCE:
            break
        ids.append(run.pk)
        _since[0] = run.finished_at
    results = Result.objects.filter(trial__run__in=ids)
    results.update(document=_WithoutKey(F("document"), Value("intervals")), interval_count=None)
    IntervalPart.objects.filter(trial__run__in=ids).delete()
    return Run.objects.filter(pk__in=ids).update(intervals_removed_at=timezone.now())


def _ended_before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
