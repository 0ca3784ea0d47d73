"""Find what the latest runs of a series show: a change that holds, a suspect, or nothing. No queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import median

from benchweb.hosts.canaries import LESS_IS_BETTER
from benchweb.regressions.deciding import NEAR_RUNS
from benchweb.regressions.judging.histories import History, RunValue
from benchweb.regressions.judging.watched import is_on_log_scale, is_worse, least_difference, middle_level
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries
from benchweb.statistics.changes import Change, ModeShares, find_changes_beside, is_one_drift, suspicion
from benchweb.statistics.comparison import adjusted_p_values
from benchweb.statistics.deciding import FALSE_DISCOVERY_RATE, LEAST_RUNS
from benchweb.statistics.median_interval import quick_median_difference_interval

State = Alert.State
# Where the shares of two modes change is known less exactly.
_NEAR_RUNS_OF_MODES = 12
# So many outliers that nobody was told of, among the runs that are looked at, are no accident.
_RECURRENT = 2
# The level before a drift is that of so many runs.
_LEVEL_RUNS = 30
# A level that is worse by at most such a share of the change that was told is the same one; soon after that one began,
# by at most such a share, the same fall.
_SAME_LEVEL, _SAME_FALL = 0.25, 0.5


@dataclass(frozen=True)
class SeriesFinding:
    """A series that got worse: levels in the metric's unit, differences as shares of `before`."""

    history: History
    first_bad: RunValue
    last_good: RunValue | None
    before: float
    after: float
    difference_ratio: float | None
    interval_low_ratio: float | None
    interval_high_ratio: float | None
    # None for a suspect.
    p: float | None
    mode_shares: ModeShares | None = None
    # What accounts for it: a host that was slower alone too.
    canary: "CanaryMove | None" = None

    @property
    def is_confirmed(self) -> bool:
        return self.p is not None


@dataclass(frozen=True)
class CanaryMove:
    """A host whose own figure moved with a pair's, and by which share of its level, in the figure's own unit."""

    host_id: int
    metric: str
    ratio: float


def worsened_findings(watched: Sequence[History], known: Mapping[int, Sequence[AlertSeries]]) -> list[SeriesFinding]:
    """Return the series whose latest change is for the worse.

    `known` are each series' parts in alerts, the newest first.
    """
    latest = ((history, _latest_change(history, known.get(history.series_id, ()))) for history in watched)
    return [
        _change_finding(history, change)
        for history, change in latest
        if change and is_worse(history.metric, change.before, change.after)
    ]


def beyond_chance(findings: Sequence[SeriesFinding], *, others: Sequence[float], series: int) -> list[SeriesFinding]:
    """Return the changes that so many series of one night can't show by chance.

    `others` are the p-values of what changed among the other ones of `series`; the rest showed nothing.
    """
    p_values = [1.0 if finding.p is None else finding.p for finding in findings]
    quiet = series - len(p_values) - len(others)
    adjusted = adjusted_p_values([*p_values, *others, *([1.0] * quiet)])
    return [finding for finding, p in zip(findings, adjusted, strict=False) if p <= FALSE_DISCOVERY_RATE]


def suspect_finding(history: History, run_id: int, known: Sequence[AlertSeries]) -> SeriesFinding | None:
    """Return what makes a run that is the latest of its series a suspect, or None.

    `known` are the series' parts in alerts, the newest first: what recovered is left out, what did not is the level.
    """
    if not history.runs or history.runs[-1].run_id != run_id:
        return None
    runs = comparable_runs(history, known)
    suspected = suspicion(
        [run.median for run in runs],
        floor=history.sensitivity.suspect_floor_ratio,
        least=least_difference(history.metric),
        noise_times=history.sensitivity.noise_times,
        higher_is_better=history.metric.better == "higher",
        log_scale=is_on_log_scale(history.metric),
    )
    if suspected is None:
        return None
    before, after = suspected.level, runs[-1].median
    ratio = (after - before) / abs(before) if before else None
    return SeriesFinding(history, runs[-1], runs[-2], before, after, ratio, None, None, None)


def comparable_runs(history: History, known: Sequence[AlertSeries]) -> list[RunValue]:
    """Return the runs of the present level: since its latest change, without segments that it came back from."""
    places = history.places
    begun = [places.get(part.first_bad_run_id, 0) for part in known if part.recovered_run_id is None]
    first = max(begun, default=0)
    left_out = _left_out(known, places)
    runs = [run for index, run in enumerate(history.runs) if index >= first and index not in left_out]
    change = _latest_change(history, known)
    # A change for the better makes a new level too; one whose bad segment is left out is none.
    if change and change.index not in left_out and not _has_recovered_at(change.index, known, places):
        since = max(first, change.index)
        runs = [run for run in runs if places[run.run_id] >= since]
    return runs


def _left_out(known: Sequence[AlertSeries], places: Mapping[int, int]) -> set[int]:
    """Return where the segments are that a series came back from.

    What nobody was told of, and comes and goes, is noise; what people were told of is so only where they called it
    that: the third episode of a fault is a fault.
    """
    told: list[range] = []
    untold: list[range] = []
    for part in known:
        recovered = places.get(part.recovered_run_id or 0)
        if not part.is_confirmed or recovered is None or part.alert.state == State.INVALID:
            continue
        spans = untold if part.alert.opened_at is None else told
        spans.append(range(places.get(part.first_bad_run_id, 0), recovered))
    left_out = [*told, *(untold if len(untold) < _RECURRENT else [])]
    return {index for span in left_out for index in span}


def is_as_before(history: History, part: AlertSeries, run: RunValue) -> bool:
    """Tell whether a run's figure is nearer to the level before the change than to the one after."""
    return is_worse(history.metric, run.median, middle_level(history.metric, part.before, part.after))


def same_segment(finding: SeriesFinding, known: Sequence[AlertSeries]) -> AlertSeries | None:
    """Return the part of an alert that tells of the finding's segment already."""
    places = finding.history.places
    index = places[finding.first_bad.run_id]
    for part in known:
        if part.was_unannounced and finding.is_confirmed:
            # One good run ended the suspect before anybody was told; later ones say that it was none.
            continue
        if part.segment_key == segment_key(finding):
            return part
        other, recovered = places.get(part.first_bad_run_id), places.get(part.recovered_run_id or 0)
        are_shares = finding.mode_shares is not None and part.mode_share_before is not None
        is_near = other is not None and abs(other - index) <= (_NEAR_RUNS_OF_MODES if are_shares else NEAR_RUNS)
        if is_near and (recovered is None or index < recovered):
            return part
    return None


def known_part(finding: SeriesFinding, known: Sequence[AlertSeries]) -> tuple[AlertSeries, SeriesFinding | None] | None:
    """Return the part of an alert that tells of a finding already, or None of what is news.

    With it comes how its segment looks now; None where no runs before the part are looked at.
    """
    part = same_segment(finding, known)
    if part is not None:
        return part, finding
    history, index = finding.history, finding.history.places[finding.first_bad.run_id]
    for part in known:
        is_known = part.is_confirmed or part.alert.state == State.ACKNOWLEDGED
        if part.recovered_run_id is not None or not is_known or part.alert.state not in LIVE_STATES:
            continue
        begun = history.places.get(part.first_bad_run_id)
        if not begun:
            if _is_level_known(finding, part, _SAME_LEVEL):
                return part, None
        elif _is_same_fall(finding, part, begun, index):
            return part, _whole_drift(finding, min(begun, index), max(begun, index))
    return None


def _is_same_fall(finding: SeriesFinding, part: AlertSeries, begun: int, index: int) -> bool:
    """Tell whether a finding goes on with what began elsewhere: a drift is found bit by bit, and placed anew each time.

    Before twelve runs nobody knows the level that a second step would begin from.
    """
    if abs(index - begun) < LEAST_RUNS and _is_level_known(finding, part, _SAME_FALL):
        return True
    history = finding.history
    is_log = is_on_log_scale(history.metric) and min(history.values) > 0
    values = [log(value) for value in history.values] if is_log else history.values
    return is_one_drift(values, {begun, index})


def _is_level_known(finding: SeriesFinding, part: AlertSeries, share: float) -> bool:
    """Tell whether a finding's level is worse than the part's by at most a share of what the part tells of."""
    worst = part.after + share * (part.after - part.before)
    return not is_worse(finding.history.metric, worst, finding.after)


def _whole_drift(finding: SeriesFinding, first: int, last: int) -> SeriesFinding:
    """Return a drift from its first bad run to where the latest level begins."""
    runs, values = finding.history.runs, finding.history.values
    before, after = values[max(0, first - _LEVEL_RUNS) : first], values[last:]
    level, new = median(before), median(after)
    low, high = quick_median_difference_interval(before, after)
    return replace(
        finding,
        first_bad=runs[first],
        last_good=runs[first - 1],
        before=level,
        after=new,
        difference_ratio=(new - level) / abs(level) if level else None,
        interval_low_ratio=low / abs(level) if level else None,
        interval_high_ratio=high / abs(level) if level else None,
    )


def segment_key(finding: SeriesFinding) -> str:
    """Return what the segment is known by."""
    return f"{finding.history.series_id}:{finding.first_bad.run_id}"


def changes_of(history: History, first: int = 0) -> list[Change]:
    """Return all changes of a series within its window, from a place on, as its alerts are judged by."""
    if first not in history.changes:
        changes = find_changes_beside(
            history.values[first:],
            history.explained.since(first) if history.explained else None,
            [beside[first:] for beside in history.beside],
            floor=history.floor_ratio,
            least=least_difference(history.metric),
            log_scale=is_on_log_scale(history.metric),
        )
        history.changes[first] = [replace(change, index=first + change.index) for change in changes]
    return history.changes[first]


def _latest_change(history: History, known: Sequence[AlertSeries]) -> Change | None:
    """Return the latest change; after one that is known a next one shows sooner where the known one is left out."""
    boundaries = (history.places.get(part.recovered_run_id or part.first_bad_run_id) for part in known)
    last_start = len(history.runs) - LEAST_RUNS
    starts = {0, *(start for start in boundaries if start is not None and start <= last_start)}
    latest = (next(reversed(changes_of(history, start)), None) for start in sorted(starts))
    return max((change for change in latest if change), key=lambda change: change.index, default=None)


def _has_recovered_at(index: int, known: Sequence[AlertSeries], places: Mapping[int, int]) -> bool:
    recovered = (places.get(part.recovered_run_id) for part in known if part.recovered_run_id is not None)
    return any(end is not None and abs(end - index) <= NEAR_RUNS for end in recovered)


def _change_finding(history: History, change: Change) -> SeriesFinding:
    return SeriesFinding(
        history=history,
        first_bad=history.runs[change.index],
        last_good=history.runs[change.index - 1] if change.index else None,
        before=change.before,
        after=change.after,
        difference_ratio=change.difference_ratio,
        interval_low_ratio=change.interval_low_ratio,
        interval_high_ratio=change.interval_high_ratio,
        p=change.p,
        mode_shares=change.mode_shares,
        canary=None if change.moved_with is None else _canary_move(history, change.moved_with, change.index),
    )


def _canary_move(history: History, covariate: int, index: int) -> CanaryMove | None:
    """Return how a canary moved with a change: its median since against that of as many runs before as make a level.

    None where it wasn't measured on one of the sides.
    """
    canary = history.canaries[covariate]
    beside = canary.beside([run.at for run in history.runs])
    known_before = [value for value in beside[max(0, index - _LEVEL_RUNS) : index] if value is not None]
    known_after = [value for value in beside[index:] if value is not None]
    if not known_before or not known_after:
        return None
    before, after = median(known_before), median(known_after)
    ratio = before / after if canary.metric in LESS_IS_BETTER else after / before
    return CanaryMove(canary.host_id, canary.metric, ratio - 1)
