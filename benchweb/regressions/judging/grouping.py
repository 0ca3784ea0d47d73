"""Make alerts of findings: one for what has one cause, whatever the number of series and pairs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from math import log10
from typing import Any

from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.deciding import ALIKE_SHARE, CRITICAL_RATIO
from benchweb.regressions.handling.snoozes import wake_if_worse
from benchweb.regressions.judging.causes import Cause, common_causes, common_host, common_uplink
from benchweb.regressions.judging.findings import CanaryMove, SeriesFinding, segment_key
from benchweb.regressions.judging.histories import histories
from benchweb.regressions.judging.joining import bad_since, explaining_alert
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries, AlertTransition
from benchweb.results.models import RunFigure
from benchweb.results.nightly_summaries import night_of
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.schedules.models import Schedule

State = Alert.State
# What is smaller says no more.
_LEAST_P = 1e-12


def group_findings(findings: Sequence[SeriesFinding], *, pair: Pair, run: Run) -> list[Alert]:
    """Add a run's new findings to the alerts of their causes, made where there are none; return these alerts."""
    given: dict[int, Alert] = {}
    joined: dict[int, list[AlertSeries]] = defaultdict(list)
    for finding in findings:
        alert = explaining_alert(finding, pair) or transitions.begin(_new_alert(finding, pair, run))
        given[alert.pk] = alert
        joined[alert.pk].append(_add_part(alert, finding))
    for alert in given.values():
        describe(alert)
        sure = [part for part in joined[alert.pk] if part.p is not None]
        # Once all of its series are known: people are told of it with these.
        if sure and not transitions.move(alert.pk, State.OPEN):
            tell_of_new_measures(alert, sure)
    return list(Alert.objects.filter(pk__in=given).order_by("pk"))


def tell_of_new_measures(alert: Alert, joined: Sequence[AlertSeries]) -> bool:
    """Tell people of parts that joined an alert that they know of, where it has had no such measure so far."""
    news = {(part.series.kind, part.series.metric): part.pk for part in joined[::-1]}
    earlier = alert.series.exclude(pk__in=[part.pk for part in joined])
    for known in earlier.values_list("series__kind", "series__metric"):
        news.pop(known, None)
    if not news or alert.opened_at is None:
        return False
    alert.refresh_from_db()
    params = {"parts": sorted(news.values())}
    transitions.record(alert, AlertTransition.AlertAction.JOINED, alert.state, None, "", params=params, announced=True)
    return True


def update(part: AlertSeries, finding: SeriesFinding) -> None:
    """Write what a known segment looks like now; `tell_updated` says so of its alert."""
    AlertSeries.objects.filter(pk=part.pk).update(
        **_part_figures(finding),
        first_bad_run=finding.first_bad.run_id,
        last_good_run=finding.last_good.run_id if finding.last_good else None,
    )


def tell_updated(parts: Iterable[AlertSeries]) -> None:
    """Describe the live alerts of updated parts anew, each once; one that was only suspected opens: it is sure now."""
    alerts = {part.alert_id: part.alert for part in parts if part.recovered_run_id is None}
    for alert in alerts.values():
        if alert.state in LIVE_STATES:
            describe(alert)
            transitions.move(alert.pk, State.OPEN)


def begin_earlier(part: AlertSeries, finding: SeriesFinding) -> None:
    """Let a part begin with a run that was judged after the one that it was found by."""
    AlertSeries.objects.filter(pk=part.pk).update(
        first_bad_run=finding.first_bad.run_id,
        last_good_run=finding.last_good.run_id if finding.last_good else None,
    )


def describe(alert: Alert) -> None:
    """Write what the parts of an alert have in common, and its size; its state is left as it is, a snooze may end."""
    # What measuring again showed may have been written since it was read.
    alert.refresh_from_db(fields=["host", "verdict"])
    parts = list(alert.series.select_related("series", "first_bad_run", "rerun").annotate(bad_since=bad_since()))
    chance = _chance_parts(parts)
    parts = [part for part in parts if part.pk not in chance] or parts
    pairs = pairs_with_hosts({part.series.pair_id for part in _of_cause(parts)})
    worst = naming_part(parts)
    causes = common_causes(pairs)
    canary = _canary(worst, causes) if alert.verdict in ("", Alert.RerunVerdict.HOST) else None
    # What was only inferred from the parts is inferred anew.
    known = alert.host_id if alert.verdict == Alert.RerunVerdict.HOST else (canary["host"] if canary else None)
    host_id = common_host(causes, known=known)
    size = max((abs(part.difference_ratio) for part in parts if part.difference_ratio is not None), default=None)
    is_critical = (size or 0.0) >= CRITICAL_RATIO or (host_id is not None and len(pairs) > 1)
    begun_at = _begun_at(parts) or alert.begun_at
    Alert.objects.filter(pk=alert.pk).update(
        begun_at=begun_at,
        night=night_of(begun_at),
        host=host_id,
        # A pair that was bad alone when measured again, and another of the same host since, are that host.
        verdict=Alert.RerunVerdict.HOST if host_id and alert.verdict == Alert.RerunVerdict.PAIR else alert.verdict,
        pair=pairs[0] if have_same_hosts(pairs) else None,
        size_ratio=size,
        severity=Alert.Severity.CRITICAL if is_critical else Alert.Severity.WARNING,
        params={
            "kind": worst.series.kind,
            "metric": worst.series.metric,
            "identity": worst.series.identity,
            "ratio": worst.difference_ratio,
            "before": worst.before,
            "after": worst.after,
            "mode_shares": _mode_shares(worst),
            "sizes": _bad_sizes(parts, worst),
            "series": len(parts),
            "pairs": len({part.series.pair_id for part in parts}),
            "uplink": common_uplink(causes) if len(pairs) > 1 else "",
            "canary": canary if canary and canary["host"] == host_id else None,
        },
    )
    wake_if_worse(alert.pk)


def naming_part(parts: Sequence[AlertSeries]) -> AlertSeries:
    """Return the part that an alert is named by: of a kind's headline before others, and of what most pairs show.

    What less than half of the pairs show that another measure is of doesn't name what they have in common. Among the
    parts of that measure the largest difference; a ratio alone would choose jitter before a link at 60 %.
    """
    measures: dict[tuple[str, str], list[AlertSeries]] = defaultdict(list)
    for part in parts:
        measures[part.series.kind, part.series.metric].append(part)
    pairs = {measure: len({part.series.pair_id for part in its}) for measure, its in measures.items()}
    most = max(pairs.values())

    def weight(measure: tuple[str, str]) -> tuple[bool, bool, int, float]:
        its, kind = measures[measure], catalog().kinds.get(measure[0])
        # p-values of a night's series are no independent tests: the surest of them counts.
        surest = max((-log10(max(part.p, _LEAST_P)) for part in its if part.p is not None), default=0.0)
        is_of_most, is_headline = 2 * pairs[measure] >= most, kind is not None and kind.headline == measure[1]
        return is_of_most, is_headline, pairs[measure], surest

    named = max(sorted(measures), key=weight)
    return max(measures[named], key=lambda part: (abs(part.difference_ratio or 0.0), -part.pk))


def _begun_at(parts: Sequence[Any]) -> datetime | None:
    """Return when the first bad run of what is sure began, else of all; an outlier dates no later fall."""
    sure = [part for part in parts if is_sure(part)]
    return min((part.bad_since for part in sure or parts if part.bad_since is not None), default=None)


def is_sure(part: AlertSeries) -> bool:
    """Tell whether a test over runs since showed it, or another measurement that is over."""
    was_measured_again = part.rerun is not None and part.rerun.state not in OPEN_STATES
    return part.p is not None or (was_measured_again and part.rerun_id != part.recovered_run_id)


def fell_alike(found: AlertSeries | SeriesFinding, other: AlertSeries) -> bool:
    """Tell whether a series fell by an amount that another's fault explains, in its unit or as a share of the level."""
    if abs(found.after - found.before) >= ALIKE_SHARE * abs(other.after - other.before):
        return True
    ratio, its = found.difference_ratio, other.difference_ratio
    return ratio is None or its is None or abs(ratio) >= ALIKE_SHARE * abs(its)


def _of_cause(parts: Sequence[AlertSeries]) -> list[AlertSeries]:
    """Return the parts that tell where the fault is: an outlier far smaller than another's fall may be of anything."""
    measures: dict[tuple[str, str, str], list[AlertSeries]] = defaultdict(list)
    for part in parts:
        measures[part.series.kind, part.series.metric, part.series.identity_digest].append(part)
    largest = {
        measure: max(its, key=lambda part: abs(part.difference_ratio or 0.0)) for measure, its in measures.items()
    }
    return [
        part for measure, its in measures.items() for part in its if is_sure(part) or fell_alike(part, largest[measure])
    ]


def _canary(part: AlertSeries, causes: Collection[Cause]) -> dict[str, Any] | None:
    """Return the host that was slower alone too, where all of the alert's pairs share it; None for none."""
    return part.canary if part.canary and Cause(host_id=part.canary["host"]) in causes else None


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
    sure = [part for part in parts if is_sure(part)]
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


def _add_part(alert: Alert, finding: SeriesFinding) -> AlertSeries:
    key = segment_key(finding)
    unannounced = AlertSeries.objects.filter(segment_key=key, alert__opened_at=None).exclude(recovered_run=None)
    unannounced.update(segment_key=f"unannounced:{key}")
    return AlertSeries.objects.create(
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
        "canary": _canary_document(finding.canary) if finding.canary else None,
    }


def _canary_document(move: CanaryMove) -> dict[str, Any]:
    return {"host": move.host_id, "metric": move.metric, "ratio": move.ratio}


def have_same_hosts(pairs: Sequence[Pair]) -> bool:
    """Tell whether pairs are one, or its two directions."""
    return len({frozenset((pair.source_id, pair.sink_id)) for pair in pairs}) == 1


def pairs_with_hosts(ids: Iterable[int]) -> Sequence[Pair]:
    """Return pairs with the hosts of their ends, in one order."""
    return list(Pair.objects.filter(pk__in=ids).select_related("source__host", "sink__host").order_by("pk"))
