"""Remove what is most of old runs' trials, in batches, by the tick: intervals at one age, all details at another.

Details are what the engine told beside its figures, intervals among them. Metrics, histograms, flags, limits and facts
stay, and so does all of a run that somebody or an alert points at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Func, JSONField, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce
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
    SELECT coalesce(sum({of_result}), 0) + coalesce((
        SELECT sum(pg_column_size(part.intervals)) FROM results_intervalpart part
        JOIN runs_trial long_trial ON long_trial.id = part.trial_id WHERE long_trial.run_id = ANY(%(runs)s)
      ), 0) AS size_bytes
    FROM results_result result JOIN runs_trial trial ON trial.id = result.trial_id
    WHERE trial.run_id = ANY(%(runs)s)
"""
# Where this process goes on, by a tier's setting: what is kept isn't looked at again for each batch.
_since: dict[str, datetime] = {}


@dataclass(frozen=True)
class Tier:
    """What goes after the days of a setting; `removed_at` is the run's field that tells when it went."""

    setting: str
    removed_at: str
    # What it takes of a result's row, as SQL, and what is written over it.
    weight: str
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class TierLosses:
    """How many runs lose what a tier holds, or at least so many, and about how many bytes of the database come back."""

    runs: int
    size_bytes: float
    is_more: bool


class _WithoutKey(Func):
    """A JSON object without one of its keys."""

    arg_joiner = " - "
    template = "(%(expressions)s)"
    output_field = JSONField()


INTERVALS = Tier(
    setting="INTERVAL_DAYS",
    removed_at="intervals_removed_at",
    weight="pg_column_size(document) * length((document -> 'intervals')::text)::float / length(document::text)",
    changes={"document": _WithoutKey(F("document"), Value("intervals")), "interval_count": None},
)
DETAILS = Tier(
    setting="DETAIL_DAYS",
    removed_at="details_removed_at",
    weight="pg_column_size(document)",
    changes={"document": {}, "interval_count": None},
)
# Details first: their intervals go with them.
TIERS = (DETAILS, INTERVALS)


def remove_old() -> int:
    """Remove what the oldest runs have beyond each tier's days; return of how many runs. For the tick."""
    return sum(_remove_tier(tier, days) for tier in TIERS if (days := site_setting(tier.setting)))


def is_behind() -> bool:
    """Tell whether there is something of runs that is beyond its tier's days; a query a tier."""
    return any(
        runs_with_old(tier, _ended_before(days)).exists() for tier in TIERS if (days := site_setting(tier.setting))
    )


def losses(tier: Tier, days: int) -> TierLosses:
    """Return what keeping a tier for so many days would remove now; 0 keeps all."""
    runs = runs_with_old(tier, _ended_before(days)) if days else Run.objects.none()
    number = runs.order_by()[: _MOST_COUNTED + 1].count()
    weighed = list(runs.order_by("-finished_at").values_list("pk", flat=True)[:_RUNS_WEIGHED])
    size_bytes = float(fetch_value(_WEIGHT.format(of_result=tier.weight), {"runs": weighed}))
    per_run = size_bytes / max(1, len(weighed))
    return TierLosses(min(number, _MOST_COUNTED), per_run * number, is_more=number > _MOST_COUNTED)


def runs_with_old(tier: Tier, before: datetime) -> QuerySet[Run]:
    """Return the runs that ended before and may have what a tier holds yet, but those that something points at.

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
        labels=[],
        **{tier.removed_at: None},
    ).exclude(Q(state=State.NONSTART) | Q(campaign__arrangement=Campaign.Arrangement.TOGETHER))


def _remove_tier(tier: Tier, days: int) -> int:
    removed = _remove_some(tier, _ended_before(days))
    if not removed:
        _since.pop(tier.setting, None)
    return removed


@transaction.atomic
def _remove_some(tier: Tier, before: datetime) -> int:
    rows = runs_with_old(tier, before).order_by("finished_at", "pk")
    since = _since.get(tier.setting)
    rows = rows.filter(finished_at__gte=since) if since else rows
    runs = list(rows.select_for_update(skip_locked=True, of=("self",))[:_RUNS_AT_ONCE])
    trials = dict(
        Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(number=Count("trials")).values_list("pk", "number")
    )
    ids: list[int] = []
    for run in runs:
        if ids and sum(trials[each] for each in [*ids, run.pk]) > _TRIALS_AT_ONCE:
            break
        ids.append(run.pk)
        if run.finished_at:
            _since[tier.setting] = run.finished_at
    Result.objects.filter(trial__run__in=ids).update(**tier.changes)
    IntervalPart.objects.filter(trial__run__in=ids).delete()
    # Intervals are among the details.
    now = timezone.now()
    gone = {"intervals_removed_at": Coalesce("intervals_removed_at", now), tier.removed_at: now}
    return Run.objects.filter(pk__in=ids).update(**gone)


def _ended_before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)
