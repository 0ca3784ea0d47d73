"""Make alerts of findings: one for what has one cause, whatever the number of series and pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.deciding import CRITICAL_RATIO, NEAR_RUNS
from benchweb.regressions.handling.snoozes import wake_if_worse
from benchweb.regressions.judging.causes import causes_of, common_causes, common_host, common_uplink
from benchweb.regressions.judging.findings import SeriesFinding, segment_key
from benchweb.regressions.judging.histories import histories
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries
from benchweb.results.models import RunFigure
from benchweb.results.nightly_summaries import night_of
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.schedules.models import Schedule

State = Alert.State
_NOON_BEFORE = timedelta(hours=12)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Span:
    """The time in which another alert that has the same cause may have begun."""

    first: datetime
    last: datetime


def group_findings(findings: Sequence[SeriesFinding], *, pair: Pair, run: Run) -> list[Alert]:
    """Add a run's new findings to the alerts of their causes, made where there are none; return these alerts."""
    given: dict[int, Alert] = {}
    sure: set[int] = set()
    for finding in findings:
        alert = _alert_of(finding, pair) or transitions.begin(_new_alert(finding, pair, run))
        _add_part(alert, finding)
        given[alert.pk] = alert
        if finding.is_confirmed:
            sure.add(alert.pk)
    for alert in given.values():
        describe(alert)
        # Once all of its series are known: people are told of it with these.
        if alert.pk in sure:
            transitions.move(alert.pk, State.OPEN)
    return list(Alert.objects.filter(pk__in=given).order_by("pk"))


def update(part: AlertSeries, finding: SeriesFinding) -> None:
    """Write what a known segment looks like now; a live alert that was only suspected opens when it is sure."""
    AlertSeries.objects.filter(pk=part.pk).update(
        **_part_figures(finding),
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
    parts = list(alert.series.select_related("series", "first_bad_run", "rerun").annotate(bad_since=_bad_since()))
    chance = _chance_parts(parts)
    parts = [part for part in parts if part.pk not in chance] or parts
    pairs = pairs_with_hosts({part.series.pair_id for part in parts})
    worst = max(parts, key=lambda part: (abs(part.difference_ratio or 0.0), -part.pk))
    causes = common_causes(pairs)
    # What was only inferred from the parts is inferred anew.
    host_id = common_host(causes, known=alert.host_id if alert.verdict == Alert.RerunVerdict.HOST else None)
    size = max((abs(part.difference_ratio) for part in parts if part.difference_ratio is not None), default=None)
    is_critical = (size or 0.0) >= CRITICAL_RATIO or (host_id is not None and len(pairs) > 1)
    begun_at = _begun_at(parts) or alert.begun_at
    Alert.objects.filter(pk=alert.pk).update(
        begun_at=begun_at,
        night=night_of(begun_at),
        host=host_id,
        # A pair that was bad alone when measured again, and another of the same host since, are that host.
        verdict=Alert.RerunVerdict.HOST if host_id and alert.verdict == Alert.RerunVerdict.PAIR else alert.verdict,
        pair=pairs[0] if _have_same_hosts(pairs) else None,
        size_ratio=size,
        severity=Alert.Severity.CRITICAL if is_critical else Alert.Severity.WARNING,
        params={
            "kind": worst.series.kind,
            "metric": worst.series.metric,
            "identity": worst.series.identity,
            "ratio": worst.difference_ratio,
            "mode_shares": _mode_shares(worst),
            "sizes": _bad_sizes(parts, worst),
            "series": len(parts),
            "pairs": len(pairs),
            "uplink": common_uplink(causes) if len(pairs) > 1 else "",
        },
    )
    wake_if_worse(alert.pk)


def _bad_since() -> Subquery:
    figures = RunFigure.objects.filter(series=OuterRef("series"), run=OuterRef("first_bad_run"))
    return Subquery(figures.values("at")[:1])


def _begun_at(parts: Sequence[Any]) -> datetime | None:
    """Return when the first bad run of what is sure began, else of all; an outlier dates no later fall."""
    sure = [part for part in parts if _is_sure(part)]
    return min((part.bad_since for part in sure or parts if part.bad_since is not None), default=None)


def _is_sure(part: AlertSeries) -> bool:
    """Tell whether a test over runs since showed it, or another measurement that is over."""
    was_measured_again = part.rerun is not None and part.rerun.state not in OPEN_STATES
    return part.p is not None or (was_measured_again and part.rerun_id != part.recovered_run_id)


def _mode_shares(part: AlertSeries) -> list[float] | None:
    before, after = part.mode_share_before, part.mode_share_after
    return None if before is None or after is None else [before, after]


def _bad_sizes(parts: Sequence[AlertSeries], worst: AlertSeries) -> dict[str, Any] | None:
    """Return at which sizes alone a measure got worse, of those that the same runs measured; None where at all of them.

    None too where no size is swept, or where what got worse are not neighbouring sizes.
    """
    kind = catalog().kinds.get(worst.series.kind)
    swept = kind.sweeps[0].x if kind and kind.sweeps else ""
    if kind is None or not swept or not kind.parameters[swept].is_size:
        return None
    same = [part for part in parts if (part.series.kind, part.series.metric) == (kind.name, worst.series.metric)]
    runs = RunFigure.objects.filter(run__in={part.first_bad_run_id for part in same})
    identities = runs.filter(series__kind=kind.name, series__metric=worst.series.metric).values_list(
        "series__identity", flat=True
    )
    usual = kind.parameters[swept].default
    measured = _in_order([identity.get(swept, usual) for identity in identities])
    bad = _in_order([part.series.identity.get(swept, usual) for part in same])
    if not bad:
        return None
    first, last = bad[0], bad[-1]
    if bad == measured or bad != [size for size in measured if first <= size <= last]:
        return None
    return {
        "parameter": swept,
        "first": first,
        "last": last,
        "is_from_smallest": first == measured[0],
        "is_to_largest": last == measured[-1],
    }


def _in_order(values: Iterable[float | None]) -> list[float]:
    """Return each size once, in order, without what an imported text doesn't tell."""
    return sorted({float(value) for value in values if value is not None})


def _chance_parts(parts: Sequence[AlertSeries]) -> set[int]:
    """Return the parts of which one run stood out, and nothing that came after, but beside what was bad again."""
    sure = [part for part in parts if _is_sure(part)]
    beside = {part.first_bad_run.campaign_id for part in sure}
    doubtful = [part for part in parts if part.recovered_run_id is not None and part not in sure]
    places = {history.series_id: history.places for history in histories({part.series_id for part in doubtful})}
    chance = set()
    for part in doubtful:
        of_runs = places.get(part.series_id, {})
        is_one = of_runs.get(part.recovered_run_id or 0, 0) - of_runs.get(part.first_bad_run_id, 0) <= 1
        if is_one and (part.rerun_id is not None or part.first_bad_run.campaign_id not in beside):
            chance.add(part.pk)
    return chance


def _alert_of(finding: SeriesFinding, pair: Pair) -> Alert | None:
    """Return the alert that the finding belongs to: of the same cause, begun in the same night or some runs apart."""
    near, night = _near_span(finding), _night_span(finding.first_bad.at)
    first, last = min(near.first, night.first), max(near.last, night.last)
    # Ended ones only where the segment is the same: what was known isn't told again.
    is_same = Q(
        opened_at__isnull=False, ended_at__gt=finding.first_bad.at, begun_at__gte=near.first, begun_at__lte=near.last
    )
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


def _new_alert(finding: SeriesFinding, pair: Pair, run: Run) -> Alert:
    at = finding.first_bad.at
    key = f"change:{pair.pk}:{finding.history.series_id}:{finding.first_bad.run_id}"
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
        # A suspect that nobody was told of has the first one.
        segment_key=f"{key}:{run.pk}" if Alert.objects.filter(segment_key=key).exists() else key,
    )


def schedule_of(run: Run) -> Schedule | None:
    """Return the schedule whose slot launched a run, or None."""
    return Schedule.objects.filter(slots__campaign=run.campaign_id).first()


def _add_part(alert: Alert, finding: SeriesFinding) -> None:
    key = segment_key(finding)
    unannounced = AlertSeries.objects.filter(segment_key=key, alert__opened_at=None).exclude(recovered_run=None)
    unannounced.update(segment_key=f"unannounced:{key}")
    AlertSeries.objects.create(
        alert=alert,
        series_id=finding.history.series_id,
        segment_key=key,
        **_part_figures(finding),
        last_good_run_id=finding.last_good.run_id if finding.last_good else None,
        first_bad_run_id=finding.first_bad.run_id,
    )


def _part_figures(finding: SeriesFinding) -> dict[str, Any]:
    names = ("before", "after", "difference_ratio", "interval_low_ratio", "interval_high_ratio", "p")
    shares = finding.mode_shares
    return {name: getattr(finding, name) for name in names} | {
        "mode_share_before": shares.before if shares else None,
        "mode_share_after": shares.after if shares else None,
    }


def _have_same_hosts(pairs: Sequence[Pair]) -> bool:
    """Tell whether pairs are one, or its two directions."""
    return len({frozenset((pair.source_id, pair.sink_id)) for pair in pairs}) == 1


def pairs_with_hosts(ids: Iterable[int]) -> Sequence[Pair]:
    """Return pairs with the hosts of their ends, in one order."""
    return list(Pair.objects.filter(pk__in=ids).select_related("source__host", "sink__host").order_by("pk"))


def _near_span(finding: SeriesFinding) -> _Span:
    """Return the times of the runs around the first bad one."""
    runs = finding.history.runs
    index = finding.history.places[finding.first_bad.run_id]
    return _Span(runs[max(0, index - NEAR_RUNS)].at, runs[min(len(runs) - 1, index + NEAR_RUNS)].at)


def _night_span(at: datetime) -> _Span:
    ends = datetime.combine(night_of(at), datetime.min.time(), UTC) + _NOON_BEFORE
    return _Span(ends - _DAY, ends - timedelta(microseconds=1))
