"""Read the alerts of an overview: the new ones and those that go on, worst first, and how many there are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import JSONBAgg
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Count, F, Min, OuterRef, Q, Subquery, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Abs, Coalesce, JSONObject

from benchweb.catalog import catalog
from benchweb.documents.charts import Measured
from benchweb.hosts.models import Host
from benchweb.regressions.alert_texts import change_text
from benchweb.regressions.handling.snoozes import is_snoozed
from benchweb.regressions.models import Alert, AlertSeries, of_sample
from benchweb.regressions.selectors import named_alerts
from benchweb.results.models import RunFigure
from benchweb.statistics import Deviation
from benchweb.statistics.deciding import NOISE_TIMES

# People have dealt with these: they are in the history of alerts, not in the morning.
DONE_STATES = (
    Alert.State.ACKNOWLEDGED,
    Alert.State.EXPECTED,
    Alert.State.INVALID,
    Alert.State.FIXED,
    Alert.State.MERGED,
)
_MOST_UNREACHABLE, _MOST_NAMED = 1_000, 6
# A month of nights, and some that were measured again.
_RUNS_DRAWN = 40
_MOST_PARTS = 2_000
# Environment, kind, metric, digest of the setting.
FigureKey = tuple[int, str, str, str]
_SUSPECT_STATES = (Alert.State.SUSPECT, Alert.State.CONFIRMING)


@dataclass(frozen=True)
class AlertFigures:
    """The recent runs of the series that an alert is named by, oldest first, and its levels.

    Of a limit `before` is the limit, and `after` the latest figure.
    """

    kind: str
    metric: str
    before: float
    after: float
    is_limit: bool
    # The run that the change began with.
    first_bad_run: int
    runs: Sequence[Measured]


class ToldChange(NamedTuple):
    """An alert of a change that people were told of: its id, when it began, and what it is named by."""

    alert: int
    at: datetime
    kind: str
    metric: str


@dataclass(frozen=True)
class Worsening:
    """How a series is worse, as a live alert tells it; since the first bad run of the series itself."""

    alert: int
    since: datetime
    before: float
    after: float
    ratio: float | None
    unit: str

    @property
    def rises(self) -> bool:
        return self.after > self.before

    @property
    def text(self) -> str:
        """Say the change as its alert does: pages that show one run and the alert itself agree."""
        return change_text((self.before, self.after), self.ratio, self.unit)


@dataclass(frozen=True)
class EnvironmentAlerts:
    """An environment's alerts: how many are new, tell of changes, of missing results; and since when the first is."""

    new: int
    worse: int
    missing: int
    since: datetime


@dataclass(frozen=True)
class UnreachableTogether:
    """Hosts that don't answer, told as one: a dead switch is one cause, and hides no change."""

    alerts: int
    hosts: int
    # The first of them by name.
    named: Sequence[Host]
    # When the first of them fell silent.
    since: datetime
    # What all of them share; empty for nothing.
    uplink: str


@dataclass(frozen=True)
class SampleAlerts:
    """The alerts of a sample: in no count of what is measured."""

    new: int
    ongoing: int
    recovered: int


@dataclass(frozen=True)
class AlertsNow:
    """The worst alerts, new and ongoing, and how many there are of each; of a snoozed one nothing is told.

    Several unreachable hosts are in none of the lists, and told together.
    """

    new: Sequence[Alert]
    ongoing: Sequence[Alert]
    new_unreachable: UnreachableTogether | None
    ongoing_unreachable: UnreachableTogether | None
    figures: Mapping[int, AlertFigures]
    # By environment; 0 is that of alerts without one.
    by_environment: Mapping[int, EnvironmentAlerts]
    # By environment, oldest first: whatever became of them.
    changes: Mapping[int, Sequence[ToldChange]]
    new_count: int
    ongoing_count: int
    recovered_count: int
    suspects: int
    # Of these, those of what nobody measured.
    of_sample: "SampleAlerts"


def alerts_now(since: datetime, *, most_new: int, most_ongoing: int, changes_since: date | None = None) -> AlertsNow:
    """Return the worst alerts that opened since then, and those before that go on; two queries.

    With the changes of the nights from `changes_since` on.
    """
    is_live = _is_live()
    # What somebody acknowledged is not new, whenever it began.
    is_new = Q(state=Alert.State.OPEN, opened_at__gte=since)
    counts = _counts(is_live, is_new, since, changes_since)
    live = Alert.objects.filter(is_live).order_by("-rank", "-pk")
    is_together = Q(code="unreachable", host__isnull=False)
    together = live.filter(is_together).order_by("pk").values("pk")[:_MOST_UNREACHABLE]
    are_new, are_ongoing = (sum(each[name] for each in counts) > 1 for name in ("silent_new", "silent_ongoing"))
    alone = live.exclude((is_together & is_new) if are_new else Q(pk=None))
    alone = alone.exclude((is_together & ~is_new) if are_ongoing else Q(pk=None))
    new, ongoing = alone.filter(is_new).values("pk")[:most_new], alone.exclude(is_new).values("pk")[:most_ongoing]
    named = named_alerts().annotate(named_kind=KT("params__kind"), named_metric=KT("params__metric"))
    wanted = Q(pk__in=new) | Q(pk__in=ongoing) | (Q(pk__in=together) if are_new or are_ongoing else Q(pk=None))
    listed = named.filter(wanted).annotate(line=_line_of_outer())
    totals = {name: sum(each[name] for each in counts) for name in ("new", "live", "recovered", "suspects")}
    sample = {name: sum(each[name] for each in counts if each["is_sample"]) for name in totals}
    # Of what belongs to no environment the sample's is nobody's.
    placed = {each["environment"] or 0: each for each in counts if each["environment"] or not each["is_sample"]}
    worst = list(listed.order_by("-rank", "-pk")) if totals["live"] else []
    told = ([alert for alert in worst if _opened_since(alert, since) == is_its] for is_its in (True, False))
    (new_alone, new_together), (ongoing_alone, ongoing_together) = (
        _parted(alerts, are_several) for alerts, are_several in zip(told, (are_new, are_ongoing), strict=True)
    )
    return AlertsNow(
        new=new_alone[:most_new],
        ongoing=ongoing_alone[:most_ongoing],
        new_unreachable=new_together,
        ongoing_unreachable=ongoing_together,
        figures={alert.pk: _alert_figures(line) for alert in worst if (line := alert.line)},
        by_environment={key: _environment_alerts(each) for key, each in placed.items() if each["live"]},
        changes={key: _told_changes(each["changes"]) for key, each in placed.items() if each["changes"]},
        new_count=totals["new"],
        ongoing_count=totals["live"] - totals["new"],
        recovered_count=totals["recovered"],
        suspects=totals["suspects"],
        of_sample=SampleAlerts(sample["new"], sample["live"] - sample["new"], sample["recovered"]),
    )


def worsenings(series_ids: Collection[int]) -> dict[int, Worsening]:
    """Return the newest live alert of each series that changed and isn't as before again; one query."""
    changes = Alert.objects.filter(_is_live(), kind=Alert.Kind.CHANGE)
    parts = AlertSeries.objects.filter(series__in=series_ids, recovered_run=None, alert__in=changes)
    since = Coalesce("first_bad_run__started_at", "alert__begun_at")
    columns = ("series", "series__metric", "alert", "since", "before", "after", "difference_ratio")
    rows = parts.annotate(since=since).order_by("pk").values(*columns)
    return {row["series"]: _worsening(row) for row in rows}


def worsened_figures(environments: Collection[int]) -> dict[FigureKey, Worsening]:
    """Return how figures of environments are worse that one pair alone gives, as its live alert tells it; one query.

    By environment, kind, metric and the digest of the setting. Over several pairs a figure is no series of an alert.
    """
    return _worsened(Q(series__pair__environment__in=environments))


def worsened_of_pair(pair: int) -> dict[FigureKey, Worsening]:
    """Return how figures of a pair are worse, as its live alert tells it; one query.

    By the same key, of no environment: 0, as the rows of scope_figures have it.
    """
    found = _worsened(Q(series__pair=pair))
    return {(0, kind, metric, digest): worsening for (_id, kind, metric, digest), worsening in found.items()}


def _worsened(is_wanted: Q) -> dict[FigureKey, Worsening]:
    changes = Alert.objects.filter(_is_live(), kind=Alert.Kind.CHANGE)
    parts = AlertSeries.objects.filter(is_wanted, recovered_run=None, threshold=None, alert__in=changes)
    since = Coalesce("first_bad_run__started_at", "alert__begun_at")
    key = ("series__pair__environment", "series__kind", "series__metric", "series__identity_digest")
    rows = (
        parts.annotate(since=since).order_by("pk").values(*key, "alert", "since", "before", "after", "difference_ratio")
    )
    return {tuple(row[name] for name in key): _worsening(row) for row in rows[:_MOST_PARTS]}


def lasting(worsening: Worsening | None, at: datetime, change: Deviation | None) -> Worsening | None:
    """Return a worsening for a run that it tells of: begun by then, and the run is at its level or as those before.

    A run that stands out from both, for the better or for the worse, has a figure of its own.
    """
    if worsening is None or worsening.since > at:
        return None
    if change is None or not change.is_significant:
        return worsening
    latest = change.baseline + (change.score or 0.0) * change.noise
    return worsening if abs(latest - worsening.after) <= NOISE_TIMES * change.noise else None


def _worsening(row: Mapping[str, Any]) -> Worsening:
    metric = catalog().metrics.get(row["series__metric"])
    return Worsening(
        alert=row["alert"],
        since=row["since"],
        before=row["before"],
        after=row["after"],
        ratio=row["difference_ratio"],
        unit=metric.unit if metric else "",
    )


def _is_live() -> Q:
    return Q(state__in=(Alert.State.OPEN, Alert.State.ACKNOWLEDGED)) & ~is_snoozed()


def _parted(alerts: Sequence[Alert], are_several: bool) -> tuple[list[Alert], UnreachableTogether | None]:
    """Return the alerts that are told one by one, and unreachable hosts as one where there are several."""
    silent = {alert.pk: alert for alert in alerts if are_several and alert.code == "unreachable" and alert.host}
    return [alert for alert in alerts if alert.pk not in silent], _together(list(silent.values()))


def _together(alerts: Sequence[Alert]) -> UnreachableTogether | None:
    hosts = {alert.host.pk: alert.host for alert in alerts if alert.host}
    if not hosts:
        return None
    uplinks = {host.uplink for host in hosts.values()}
    return UnreachableTogether(
        alerts=len(alerts),
        hosts=len(hosts),
        named=sorted(hosts.values(), key=lambda host: host.name)[:_MOST_NAMED],
        since=min(alert.begun_at for alert in alerts),
        uplink=uplinks.pop() if len(uplinks) == 1 else "",
    )


def _counts(is_live: Q, is_new: Q, since: datetime, changes_since: date | None) -> Sequence[Mapping[str, Any]]:
    """Count the alerts of each environment, None among them; one query of the few that any number tells of."""
    is_suspect, is_missing = Q(state__in=_SUSPECT_STATES), Q(kind=Alert.Kind.ABSENCE)
    has_recovered = Q(state=Alert.State.RECOVERED, opened_at__isnull=False, ended_at__gte=since)
    is_told = Q(kind=Alert.Kind.CHANGE, opened_at__isnull=False) & ~Q(state=Alert.State.INVALID)
    is_change = is_told & Q(night__gte=changes_since) if changes_since else Q(pk=None)
    change = JSONObject(alert="pk", at="begun_at", kind=KT("params__kind"), metric=KT("params__metric"))
    alerts = Alert.objects.filter(is_live | is_suspect | has_recovered | is_change).order_by()
    counted = alerts.values("environment", is_sample=of_sample()).annotate(
        new=Count("pk", filter=is_live & is_new),
        live=Count("pk", filter=is_live),
        worse=Count("pk", filter=is_live & ~is_missing),
        missing=Count("pk", filter=is_live & is_missing),
        since=Min("begun_at", filter=is_live),
        recovered=Count("pk", filter=has_recovered),
        silent_new=Count("host", distinct=True, filter=is_live & is_new & Q(code="unreachable")),
        silent_ongoing=Count("host", distinct=True, filter=is_live & ~is_new & Q(code="unreachable")),
        suspects=Count("pk", filter=is_suspect),
        changes=JSONBAgg(change, filter=is_change),
    )
    return [dict(each) for each in counted]


def _opened_since(alert: Alert, since: datetime) -> bool:
    return alert.state == Alert.State.OPEN and alert.opened_at is not None and alert.opened_at >= since


def _environment_alerts(counts: Mapping[str, Any]) -> EnvironmentAlerts:
    return EnvironmentAlerts(**{name: counts[name] for name in ("new", "worse", "missing", "since")})


def _line_of_outer() -> Subquery:
    """Return the series that an alert is named by: of its metric the one that changed most."""
    is_named = Q(series__kind=OuterRef("named_kind"), series__metric=OuterRef("named_metric"))
    parts = AlertSeries.objects.filter(alert=OuterRef("pk"), series__recent__isnull=False)
    # What refers to the outer query may stand in no ordering.
    parts = parts.annotate(is_other=Case(When(is_named, then=Value(0)), default=Value(1)))
    parts = parts.order_by("is_other", Abs(F("difference_ratio")).desc(nulls_last=True), "pk")
    latest = RunFigure.objects.filter(series=OuterRef("series")).order_by("-at")
    fields = {name: name for name in ("at", "median", "n", "low", "high")} | {"run": "run_id"}
    names = {name: f"series__{name}" for name in ("kind", "metric")}
    levels = {"before": "before", "after": "after", "threshold": "threshold_id", "first_bad_run": "first_bad_run_id"}
    runs = ArraySubquery(latest.values(told=JSONObject(**fields))[:_RUNS_DRAWN])
    return Subquery(parts.values(line=JSONObject(**names, **levels, runs=runs))[:1])


def _alert_figures(row: dict[str, Any]) -> AlertFigures:
    runs = [Measured(**run | {"at": datetime.fromisoformat(run["at"])}) for run in reversed(row["runs"])]
    is_limit = row["threshold"] is not None
    named = {name: row[name] for name in ("kind", "metric", "before", "after", "first_bad_run")}
    return AlertFigures(**named, is_limit=is_limit, runs=runs)


def _told_changes(rows: Sequence[dict[str, Any]]) -> list[ToldChange]:
    told = [ToldChange(**row | {"at": datetime.fromisoformat(row["at"])}) for row in rows]
    return sorted(told, key=lambda change: change.at)
