"""Retire, restore, open to all and delete what other systems defined; series and points go with it."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Func, JSONField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import ngettext, pgettext

from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_kinds import definitions
from benchweb.regressions.models import Alert, AlertSeries, Sensitivity, SlowChange, Threshold
from benchweb.results import nightly_summaries
from benchweb.results.models import EnvironmentNights, Point, Result, Series

Own = OwnKind | OwnMetric


@dataclass(frozen=True)
class Losses:
    """The rows that are deleted with a kind or a metric."""

    series: int
    points: int
    runs: int
    alerts: int
    thresholds: int

    @property
    def is_nothing(self) -> bool:
        """Tell whether nothing was ever measured of it."""
        return not (self.series or self.runs)


def losses_text(losses: Losses) -> str:
    """Name what would be lost."""
    series = ngettext("{number} series", "{number} series", losses.series).format(number=f"{losses.series:,}")
    points = ngettext("{number} point", "{number} points", losses.points).format(number=f"{losses.points:,}")
    alerts = ngettext("{number} alert", "{number} alerts", losses.alerts).format(number=f"{losses.alerts:,}")
    figures = ngettext("the figures of {number} run", "the figures of {number} runs", losses.runs)
    rules = ngettext("{number} threshold", "{number} thresholds", losses.thresholds)
    parts = [series, points, figures.format(number=f"{losses.runs:,}"), alerts]
    return pgettext("between items of a list", ", ").join([*parts, rules.format(number=f"{losses.thresholds:,}")])


def own_retire(row: Own) -> bool:
    """Let it take no more results; what there is stays. False where it was retired before."""
    return _changed(row, Q(retired_at=None), retired_at=timezone.now())


def own_restore(row: Own) -> bool:
    """Let it take results again."""
    return _changed(row, Q(retired_at__isnull=False), retired_at=None)


def own_open(row: Own) -> bool:
    """Let it belong to all environments: results of each of them may name it."""
    return _changed(row, Q(environment__isnull=False), environment=None)


def losses_of(row: Own) -> Losses:
    """Count what would be deleted with it."""
    series = _series(row)
    return Losses(
        series=series.count(),
        points=Point.objects.filter(series__in=series).count(),
        runs=_results(row).values("trial__run").distinct().count(),
        alerts=AlertSeries.objects.filter(series__in=series).values("alert").distinct().count(),
        thresholds=Threshold.objects.filter(_named(row)).count(),
    )


@transaction.atomic
def own_delete(row: Own) -> None:
    """Delete it with its series, points, figures, alerts and thresholds; runs stay, without its figures.

    Nothing is left that another definition of the same name would be read by.
    """
    # Before the tables, as the tick has it; then whoever pushes a result of it waits.
    nightly_summaries.take_lock(wait=True)
    type(row)._default_manager.select_for_update().get(pk=row.pk)
    _delete_alerts(_series(row))
    Threshold.objects.filter(_named(row)).delete()
    Sensitivity.objects.filter(_named(row)).delete()
    EnvironmentNights.objects.filter(_named(row)).delete()
    _series(row).delete()
    SlowChange.objects.filter(series=None).delete()
    if isinstance(row, OwnKind):
        _results(row).delete()
    else:
        _results(row).update(metrics=_without(row.key))
        for kind in OwnKind.objects.select_for_update().filter(metrics__contains=[row.key]).order_by("pk"):
            kind.metrics = [key for key in kind.metrics if key != row.key]
            kind.save(update_fields=["metrics"])
    row.delete()
    transaction.on_commit(definitions.read_now)


def _changed(row: Own, condition: Q, **values: object) -> bool:
    changed = type(row)._default_manager.filter(condition, pk=row.pk).update(**values)
    definitions.read_now()
    return bool(changed)


def _named(row: Own) -> Q:
    return Q(kind=row.name) if isinstance(row, OwnKind) else Q(metric=row.key)


def _series(row: Own) -> QuerySet[Series]:
    return Series.objects.filter(_named(row))


def _results(row: Own) -> QuerySet[Result]:
    """Return the results of a kind, or those of own kinds that have the metric; no engine gives either."""
    if isinstance(row, OwnKind):
        return Result.objects.filter(trial__kind=row.name)
    kinds = OwnKind.objects.filter(metrics__contains=[row.key]).values("name")
    return Result.objects.filter(trial__kind__in=kinds, metrics__has_key=row.key)


def _without(key: str) -> Func:
    """Return the metrics of a result without one."""
    return Func(
        F("metrics"),
        Cast(Value(key), TextField()),
        arg_joiner=" - ",
        template="(%(expressions)s)",
        output_field=JSONField(),
    )


def _delete_alerts(series: QuerySet[Series]) -> None:
    """Delete the parts that these series have in alerts, and alerts that have no other, with those merged into them."""
    parts = AlertSeries.objects.filter(series__in=series)
    alerts = set(parts.values_list("alert", flat=True))
    parts.delete()
    gone = set(Alert.objects.filter(pk__in=alerts, series=None).values_list("pk", flat=True))
    layers = [gone]
    while merged := set(Alert.objects.filter(merged_into__in=layers[-1]).values_list("pk", flat=True)):
        layers.append(merged)
    for layer in reversed(layers):
        Alert.objects.filter(pk__in=layer).delete()
