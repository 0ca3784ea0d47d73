"""How the series of a pair, host or environment stand: what live alerts tell of, what else stands out, and the rest."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.contrib.postgres.aggregates import JSONBAgg
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Count, F, Max, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Abs, JSONObject

from benchweb.catalog import catalog
from benchweb.hosts.pairs import PairNames
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.overview import ToldChange
from benchweb.regressions.selectors import named_alerts
from benchweb.results.models import RecentMedians
from benchweb.results.series_summaries import SeriesScope
from benchweb.statistics.deciding import NOISE_TIMES

_MOST_ALERTS, _MOST_PARTS, _MOST_GROUPS = 40, 500, 200
_TOLD_STATES = (Alert.State.OPEN, Alert.State.ACKNOWLEDGED)
_PAIR_COLUMNS = {"pair_id": "series__pair"} | {
    f"{end}_{name}": f"series__pair__{end}__{column}"
    for end in ("source", "sink")
    for name, column in (("host", "host__name"), ("endpoint", "name"), ("mode", "network_mode"), ("id", "host_id"))
}


@dataclass(frozen=True, kw_only=True)
class SeriesPart(PairNames):
    """A series that changed, with what names its pair."""

    series: int
    pair_id: int
    # Of their hosts.
    source_id: int
    sink_id: int
    kind: str
    metric: str
    # None where the level was 0.
    ratio: float | None
    rises: bool


@dataclass(frozen=True)
class StandingAlert:
    """A live alert with its parts in the scope that have not recovered; none of one that tells what is missing.

    It may have more than these.
    """

    alert: Alert
    parts: Sequence[SeriesPart]
    has_more: bool = False


@dataclass(frozen=True)
class Standing:
    """The main series of a scope: `usual` of `total` are as before, of `learning` too few runs are known.

    `outliers` stand out in their last run, and no alert under way tells of them, snoozed ones included. `silent` gave
    no result since the first night of changes: what they were before says nothing of now.
    """

    alerts: Sequence[StandingAlert]
    changes: Sequence[ToldChange]
    outliers: Sequence[SeriesPart]
    outliers_hidden: int
    total: int
    learning: int
    usual: int
    silent: int
    # How many main series each pair has that is told of; of one pair how many each kind has.
    series_of: Mapping[int | str, int]


def standing(scope: SeriesScope, concerned: Q, changes_since: date) -> Standing:
    """Return how a scope's main series stand, with the changes told since a night; two or three queries.

    `concerned` are the alerts of the scope besides those of its series, such as of what is missing there.
    """
    alerts = _alerts(scope, concerned, changes_since)
    under_way = [_standing_alert(alert) for alert in alerts if alert.state in _TOLD_STATES]
    live = [each for each in under_way if not each.alert.is_snoozed]
    told = AlertSeries.objects.filter(alert__in=[each.alert for each in under_way], recovered_run=None).values("series")
    is_rest, is_fresh = ~Q(pk__in=told), Q(at__gte=datetime.combine(changes_since, time(), UTC))
    counts = _main_series(scope).aggregate(
        total=Count("pk"),
        told=Count("pk", filter=Q(pk__in=told)),
        silent=Count("pk", filter=is_rest & ~is_fresh),
        learning=Count("pk", filter=is_rest & is_fresh & Q(score=None)),
        out=Count("pk", filter=is_rest & is_fresh & _is_out()),
    )
    parts = [part for each in live for part in each.parts]
    groups = _groups(scope, parts, is_rest & is_fresh & _is_out()) if counts["out"] or parts else []
    outliers = [_outlier(each) for group in groups for each in group["outliers"] or ()]
    return Standing(
        alerts=live,
        changes=sorted(map(_told_change, filter(_is_told_change, alerts)), key=lambda change: change.at),
        outliers=outliers,
        outliers_hidden=counts["out"] - len(outliers),
        total=counts["total"],
        learning=counts["learning"],
        usual=counts["total"] - sum(counts[name] for name in ("told", "silent", "learning", "out")),
        silent=counts["silent"],
        series_of={group[_key(scope)]: group["number"] for group in groups},
    )


def is_main(kind: str, metric: str) -> bool:
    """Tell whether a metric is its kind's headline, which is what is counted."""
    known = catalog().kinds.get(kind)
    return known is not None and known.headline == metric


def _scoped(scope: SeriesScope) -> Q:
    """Return what holds for the series of a scope."""
    if scope.pair is not None:
        return Q(series__pair=scope.pair)
    if scope.environment is not None:
        return Q(series__pair__archived_at=None, series__pair__environment=scope.environment)
    endpoints = list(scope.endpoints)
    return Q(series__pair__archived_at=None) & (
        Q(series__pair__source__in=endpoints) | Q(series__pair__sink__in=endpoints)
    )


def _main_series(scope: SeriesScope) -> "QuerySet[RecentMedians, RecentMedians]":
    return RecentMedians.objects.filter(_scoped(scope), _are_main()).order_by()


def _are_main() -> Q:
    headlines = Q()
    for kind in catalog().kinds.values():
        headlines |= Q(series__kind=kind.name, series__metric=kind.headline)
    return headlines


def _is_out() -> Q:
    return Q(score__gt=NOISE_TIMES) | Q(score__lt=-NOISE_TIMES)


def _alerts(scope: SeriesScope, concerned: Q, changes_since: date) -> list[Alert]:
    """Return the live alerts, the worst first, and those of changes that were told; one query."""
    is_live = Q(state__in=_TOLD_STATES)
    is_wanted = is_live | Q(kind=Alert.Kind.CHANGE, opened_at__isnull=False, night__gte=changes_since) & ~Q(
        state=Alert.State.INVALID
    )
    parts = AlertSeries.objects.filter(_scoped(scope))
    of_series = parts.filter(alert__in=Alert.objects.filter(is_wanted)).values("alert")
    part = JSONObject(
        series="series",
        kind="series__kind",
        metric="series__metric",
        ratio="difference_ratio",
        before="before",
        after="after",
        **_PAIR_COLUMNS,
    )
    told = parts.filter(alert=OuterRef("pk"), recovered_run=None).order_by("pk").values(told=part)[: _MOST_PARTS + 1]
    found = named_alerts().filter(is_wanted, Q(pk__in=of_series) | (is_live & concerned))
    # What is over never pushes out what goes on.
    is_over = Case(When(is_live, then=Value(0)), default=Value(1))
    return list(found.annotate(told=ArraySubquery(told)).order_by(is_over, "-rank", "-pk")[:_MOST_ALERTS])


def _standing_alert(alert: Any) -> StandingAlert:
    parts = []
    # None of a scope without an endpoint, such as an archived host.
    for each in alert.told or ():
        before, after = each.pop("before"), each.pop("after")
        parts.append(SeriesPart(**each, rises=(after or 0.0) > (before or 0.0)))
    return StandingAlert(alert, parts[:_MOST_PARTS], has_more=len(parts) > _MOST_PARTS)


def _is_told_change(alert: Alert) -> bool:
    return alert.kind == Alert.Kind.CHANGE and {"kind", "metric"} <= alert.params.keys()


def _told_change(alert: Alert) -> ToldChange:
    return ToldChange(alert.pk, alert.begun_at, alert.params["kind"], alert.params["metric"])


def _key(scope: SeriesScope) -> str:
    """Return what series are put together by: their pair; of one pair their kind."""
    return "series__pair" if scope.pair is None else "series__kind"


def _groups(scope: SeriesScope, parts: Collection[SeriesPart], is_outlier: Q) -> list[dict[str, Any]]:
    """Return the groups of told parts, and those with series that stand out, furthest first; one query."""
    key = _key(scope)
    columns = {"series": "pk", "kind": "series__kind", "metric": "series__metric"} | _PAIR_COLUMNS
    figures = {name: name for name in ("median", "baseline", "score")}
    outliers = JSONBAgg(JSONObject(**columns, **figures), filter=is_outlier, order_by="pk")
    grouped = (
        _main_series(scope)
        .values(key)
        .annotate(number=Count("pk"), most=Max(Abs("score"), filter=is_outlier), outliers=outliers)
    )
    keys = {part.pair_id if scope.pair is None else part.kind for part in parts}
    is_told = Q((f"{key}__in", keys))
    wanted = grouped.filter(Q(most__isnull=False) | is_told)
    told_first = Case(When(is_told, then=Value(0)), default=Value(1))
    return list(wanted.order_by(told_first, F("most").desc(nulls_last=True), key)[: _MOST_GROUPS + len(keys)])


def _outlier(row: dict[str, Any]) -> SeriesPart:
    median, baseline, score = row.pop("median"), row.pop("baseline"), row.pop("score")
    return SeriesPart(**row, ratio=(median - baseline) / abs(baseline) if baseline else None, rises=score > 0)


def alerts_of_subject(of: Mapping[str, int], hosts: Collection[int] = ()) -> Q:
    """Return the alerts that name a subject, `of` as an address does, whatever their series.

    Of a pair those of its ends' `hosts` too.
    """
    if "environment" in of:
        return Q(environment=of["environment"]) | Q(pair__environment=of["environment"])
    if "pair" in of:
        return Q(pair=of["pair"]) | (Q(kind=Alert.Kind.ABSENCE) & (Q(host__in=hosts) | Q(endpoint__host__in=hosts)))
    host = of["host"]
    of_pair = Q(pair__source__host=host) | Q(pair__sink__host=host)
    return Q(host=host) | Q(endpoint__host=host) | of_pair
