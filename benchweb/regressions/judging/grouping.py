"""From findings to alerts: one for what has one cause, whatever the number of series and pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q

from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.handling.snoozes import wake_if_worse
from benchweb.regressions.judging.causes import causes_of, common_causes, common_host, common_uplink
from benchweb.regressions.judging.findings import NEAR_RUNS, Finding, segment_key
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries
from benchweb.results.nightly_summaries import night_of
from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule

State = Alert.State
# A change of so much of the level is critical, and so is a host's.
CRITICAL_RATIO = 0.2
_NOON_BEFORE = timedelta(hours=12)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Span:
    """When the first bad run of another alert may have begun that has the same cause."""

    first: datetime
    last: datetime


def place(findings: Sequence[Finding], *, pair: Pair, run: Run) -> list[Alert]:
    """Give a run's new findings to the alerts of their causes, made where there are none; return these alerts."""
    given: dict[int, Alert] = {}
    sure: set[int] = set()
    for finding in findings:
        alert = _alert_of(finding, pair) or transitions.found(_made(finding, pair, run))
        _add(alert, finding)
        given[alert.pk] = alert
        if finding.is_confirmed:
            sure.add(alert.pk)
    for alert in given.values():
        describe(alert)
        # Once all of its series are known: people are told of it with these.
        if alert.pk in sure:
            transitions.move(alert.pk, State.OPEN)
    return list(Alert.objects.filter(pk__in=given).order_by("pk"))


def update(part: AlertSeries, finding: Finding) -> None:
    """Write what a known segment looks like now; a live alert that was only suspected opens when it is sure."""
    AlertSeries.objects.filter(pk=part.pk).update(
        before=finding.before,
        after=finding.after,
        difference_ratio=finding.difference_ratio,
        interval_low_ratio=finding.interval_low_ratio,
        interval_high_ratio=finding.interval_high_ratio,
        p=finding.p,
        first_bad_run=finding.first_bad.run_id,
        last_good_run=finding.last_good.run_id if finding.last_good else None,
    )
    if part.recovered_run_id is None and part.alert.state in LIVE_STATES:
        describe(part.alert)
        transitions.move(part.alert_id, State.OPEN)


def describe(alert: Alert) -> None:
    """Write what the parts of an alert have in common, and its size; its state is left as it is, a snooze may end."""
    # What measuring again showed may have been written since it was read.
    alert.refresh_from_db(fields=["host", "verdict"])
    parts = list(alert.series.select_related("series"))
    parts = [part for part in parts if not part.was_chance] or parts
    pairs = pairs_with_hosts({part.series.pair_id for part in parts})
    worst = max(parts, key=lambda part: (abs(part.difference_ratio or 0.0), -part.pk))
    causes = common_causes(pairs)
    # What was only inferred from the parts is inferred anew.
    host_id = common_host(causes, known=alert.host_id if alert.verdict == Alert.Verdict.HOST else None)
    size = max((abs(part.difference_ratio) for part in parts if part.difference_ratio is not None), default=None)
    is_critical = (size or 0.0) >= CRITICAL_RATIO or (host_id is not None and len(pairs) > 1)
    Alert.objects.filter(pk=alert.pk).update(
        host=host_id,
        # A pair that was bad alone when measured again, and another of the same host since, are that host.
        verdict=Alert.Verdict.HOST if host_id and alert.verdict == Alert.Verdict.PAIR else alert.verdict,
        pair=pairs[0] if _have_same_hosts(pairs) else None,
        size_ratio=size,
        severity=Alert.Severity.CRITICAL if is_critical else Alert.Severity.WARNING,
        params={
            "kind": worst.series.kind,
            "metric": worst.series.metric,
            "identity": worst.series.identity,
            "ratio": worst.difference_ratio,
            "series": len(parts),
            "pairs": len(pairs),
            "uplink": common_uplink(causes) if len(pairs) > 1 else "",
        },
    )
    wake_if_worse(alert.pk)


def _alert_of(finding: Finding, pair: Pair) -> Alert | None:
    """Return the alert that the finding belongs to: of the same cause, begun in the same night or some runs apart."""
    near, night = _near(finding), _night(finding.first_bad.at)
    first, last = min(near.first, night.first), max(near.last, night.last)
    # Ended ones only where the segment is the same: what was known isn't told again.
    is_same = Q(ended_at__gt=finding.first_bad.at, begun_at__gte=near.first, begun_at__lte=near.last)
    candidates = Alert.objects.filter(
        Q(ended_at=None, begun_at__gte=first, begun_at__lte=last) | is_same,
        kind=Alert.Kind.CHANGE,
        environment=pair.environment_id,
    ).exclude(state__in=(State.INVALID, State.MERGED))
    causes = causes_of(pair)
    for alert in candidates.order_by("ended_at", "pk"):
        pairs = pairs_with_hosts(set(alert.series.values_list("series__pair_id", flat=True)))
        if alert.ended_at is not None and pair not in pairs:
            continue
        if causes & common_causes(pairs):
            return alert
    return None


def _made(finding: Finding, pair: Pair, run: Run) -> Alert:
    at = finding.first_bad.at
    return Alert(
        kind=Alert.Kind.CHANGE,
        state=State.SUSPECT,
        code="change",
        environment=pair.environment,
        pair=pair,
        plan_id=run.plan_version.plan_id,
        schedule=schedule_of(run),
        begun_at=at,
        night=night_of(at),
        segment_key=f"change:{pair.pk}:{finding.history.series_id}:{finding.first_bad.run_id}",
    )


def schedule_of(run: Run) -> Schedule | None:
    """Return the schedule whose slot launched a run, or None."""
    return Schedule.objects.filter(slots__campaign=run.campaign_id).first()


def _add(alert: Alert, finding: Finding) -> None:
    AlertSeries.objects.create(
        alert=alert,
        series_id=finding.history.series_id,
        segment_key=segment_key(finding),
        before=finding.before,
        after=finding.after,
        difference_ratio=finding.difference_ratio,
        interval_low_ratio=finding.interval_low_ratio,
        interval_high_ratio=finding.interval_high_ratio,
        p=finding.p,
        last_good_run_id=finding.last_good.run_id if finding.last_good else None,
        first_bad_run_id=finding.first_bad.run_id,
    )


def _have_same_hosts(pairs: Sequence[Pair]) -> bool:
    """Tell whether pairs are one, or its two directions."""
    return len({frozenset((pair.source_id, pair.sink_id)) for pair in pairs}) == 1


def pairs_with_hosts(ids: Iterable[int]) -> Sequence[Pair]:
    """Return pairs with the hosts of their ends, in one order."""
    return list(Pair.objects.filter(pk__in=ids).select_related("source__host", "sink__host").order_by("pk"))


def _near(finding: Finding) -> _Span:
    """Return the times of the runs around the first bad one."""
    runs = finding.history.runs
    place = finding.history.places[finding.first_bad.run_id]
    return _Span(runs[max(0, place - NEAR_RUNS)].at, runs[min(len(runs) - 1, place + NEAR_RUNS)].at)


def _night(at: datetime) -> _Span:
    ends = datetime.combine(night_of(at), datetime.min.time(), UTC) + _NOON_BEFORE
    return _Span(ends - _DAY, ends - timedelta(microseconds=1))
