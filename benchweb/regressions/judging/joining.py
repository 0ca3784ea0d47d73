"""Choose the alert that a finding belongs to: one whose cause explains it, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery

from benchweb.hosts.models import Pair
from benchweb.regressions.deciding import NEAR_RUNS
from benchweb.regressions.judging.causes import causes_of, common_causes
from benchweb.regressions.judging.findings import SeriesFinding
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.models import RunFigure
from benchweb.results.nightly_summaries import night_of

State = Alert.State
_NOON_BEFORE = timedelta(hours=12)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Span:
    """The time in which another alert that has the same cause may have begun."""

    first: datetime
    last: datetime


def explaining_alert(finding: SeriesFinding, pair: Pair) -> Alert | None:
    """Return the alert that the finding belongs to: of the same cause, begun in the same night or some runs apart.

    What hosts have in common is not enough: the finding is of a measure that fell already and runs since confirm it, or
    it may have begun at the same moment. An alert all of whose series are back takes nothing more, nor does one that
    has ended: what lasts is told. Only the fall of a pair that somebody took as its new level is told once.
    """
    near, night = _near_span(finding), _night_span(finding.first_bad.at)
    first, last = min(near.first, night.first), max(near.last, night.last)
    is_new_level = Q(
        Exists(AlertSeries.objects.filter(alert=OuterRef("pk"), series__pair=pair)),
        state=State.EXPECTED,
        opened_at__isnull=False,
        ended_at__gt=finding.first_bad.at,
        begun_at__gte=near.first,
        begun_at__lte=near.last,
    )
    candidates = Alert.objects.filter(
        Q(ended_at=None, begun_at__gte=first, begun_at__lte=last) | is_new_level,
        kind=Alert.Kind.CHANGE,
        environment=pair.environment_id,
    )
    causes = causes_of(pair)
    for alert in candidates.order_by("ended_at", "pk"):
        lasting = [part for part in _dated_parts(alert) if part.recovered_run_id is None]
        if _explains(lasting, finding) and causes & common_causes({part.series.pair for part in lasting}):
            return alert
    return None


def explaining_open_alert(alert: Alert) -> Alert | None:
    """Return the alert that people know of and that a confirmed suspect belongs to: of its cause and a measure.

    It began in the same night, or some runs apart.
    """
    parts = [part for part in _dated_parts(alert) if part.recovered_run_id is None]
    causes = common_causes({part.series.pair for part in parts})
    metrics = {part.series.metric for part in parts}
    near = max((_run_spacing(part) for part in parts), default=timedelta(0)) * NEAR_RUNS
    candidates = Alert.objects.filter(
        Q(night=alert.night) | Q(begun_at__gte=alert.begun_at - near, begun_at__lte=alert.begun_at + near),
        kind=Alert.Kind.CHANGE,
        environment=alert.environment_id,
        state__in=(State.OPEN, State.ACKNOWLEDGED),
    ).exclude(pk=alert.pk)
    for candidate in candidates.order_by("pk"):
        lasting = [part for part in _dated_parts(candidate) if part.recovered_run_id is None]
        if metrics & {part.series.metric for part in lasting} and causes & common_causes(
            {part.series.pair for part in lasting}
        ):
            return candidate
    return None


def _run_spacing(part: Any) -> timedelta:
    """Return the time between the last good run of a part and its first bad one."""
    return part.bad_since - part.good_until if part.bad_since and part.good_until else timedelta(0)


def bad_since() -> Subquery:
    """Return when the first bad run of an alert's part was measured, as a column."""
    return _measured_at("first_bad_run")


def _dated_parts(alert: Alert) -> Sequence[Any]:
    parts = alert.series.select_related("series__pair__source__host", "series__pair__sink__host").order_by("pk")
    return list(parts.annotate(bad_since=bad_since(), good_until=_measured_at("last_good_run")))


def _measured_at(run: str) -> Subquery:
    figures = RunFigure.objects.filter(series=OuterRef("series"), run=OuterRef(run))
    return Subquery(figures.values("at")[:1])


def _explains(parts: Sequence[Any], finding: SeriesFinding) -> bool:
    is_of_measure = finding.is_confirmed and finding.history.metric.key in {part.series.metric for part in parts}
    return bool(parts) and (is_of_measure or any(_may_begin_together(part, finding) for part in parts))


def _may_begin_together(part: Any, finding: SeriesFinding) -> bool:
    """Tell whether one moment lies between the last good and the first bad run of both."""
    if part.bad_since is None:
        return False
    good_until = finding.last_good.at if finding.last_good else finding.first_bad.at
    begins, other_begins = good_until, part.good_until or part.bad_since
    return bool(max(begins, other_begins) <= min(finding.first_bad.at, part.bad_since))


def _near_span(finding: SeriesFinding) -> _Span:
    """Return the times of the runs around the first bad one."""
    runs = finding.history.runs
    index = finding.history.places[finding.first_bad.run_id]
    return _Span(runs[max(0, index - NEAR_RUNS)].at, runs[min(len(runs) - 1, index + NEAR_RUNS)].at)


def _night_span(at: datetime) -> _Span:
    ends = datetime.combine(night_of(at), datetime.min.time(), UTC) + _NOON_BEFORE
    return _Span(ends - _DAY, ends - timedelta(microseconds=1))
