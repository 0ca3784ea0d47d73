"""What the latest runs of a series show: a change that holds, a suspect, or nothing. No queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from benchweb.regressions.judging.histories import History, RunValue
from benchweb.regressions.judging.watched import is_on_log_scale, is_worse, least_difference
from benchweb.regressions.models import AlertSeries
from benchweb.statistics.changes import LEAST_RUNS, Change, find_changes, is_suspect
from benchweb.statistics.comparison import adjusted_p_values

# Where a change begins is known to so many runs; nearer ones are the same.
NEAR_RUNS = 3
# Of the changes told at most such a share is expected to be chance (Benjamini and Hochberg).
FALSE_DISCOVERY_RATE = 0.05
# A suspect stands out by at least so much, as overviews have it.
_SUSPECT_FLOOR_RATIO = 0.03
# A level is told from at most so many runs before.
_RUNS_BEFORE = 30


@dataclass(frozen=True)
class Finding:
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

    @property
    def is_confirmed(self) -> bool:
        return self.p is not None


def lasting_findings(found: Sequence[History], known: Mapping[int, Sequence[AlertSeries]]) -> list[Finding]:
    """Return the series whose latest change is for the worse, as far as so many series can't show it by chance.

    `known` are each series' parts in alerts, the newest first.
    """
    latest = {
        history.series_id: _latest_change(history, known.get(history.series_id, ()))
        for history in found
        if len(history.runs) >= LEAST_RUNS
    }
    judged = [history for history in found if history.series_id in latest]
    worse = {
        history.series_id: change
        for history in judged
        if (change := latest[history.series_id]) and is_worse(history.metric, change.before, change.after)
    }
    adjusted = adjusted_p_values(
        [worse[history.series_id].p if history.series_id in worse else 1.0 for history in judged]
    )
    return [
        _of_change(history, worse[history.series_id])
        for history, p in zip(judged, adjusted, strict=True)
        if history.series_id in worse and p <= FALSE_DISCOVERY_RATE
    ]


def suspect_finding(history: History, run_id: int, known: Sequence[AlertSeries]) -> Finding | None:
    """Return what makes a run that is the latest of its series a suspect, or None.

    `known` are the series' parts in alerts, the newest first: what recovered is left out, what did not is the level.
    """
    if not history.runs or history.runs[-1].run_id != run_id:
        return None
    kept = comparable(history, known)
    values = [run.median for run in kept]
    if not is_suspect(
        values,
        floor=max(history.floor_ratio, _SUSPECT_FLOOR_RATIO),
        least=least_difference(history.metric),
        higher_is_better=history.metric.better == "higher",
        log_scale=is_on_log_scale(history.metric),
    ):
        return None
    before = median(values[:-1][-_RUNS_BEFORE:])
    ratio = (values[-1] - before) / abs(before) if before else None
    return Finding(history, kept[-1], kept[-2], before, values[-1], ratio, None, None, None)


def comparable(history: History, known: Sequence[AlertSeries]) -> list[RunValue]:
    """Return the runs of the present level: since its latest change, without segments that it came back from."""
    places, first = history.places, 0
    left_out: set[int] = set()
    for part in known:
        begins = places.get(part.first_bad_run_id)
        if part.recovered_run_id is None:
            first = max(first, begins or 0)
        else:
            left_out.update(range(begins or 0, places.get(part.recovered_run_id, 0)))
    kept = [run for place, run in enumerate(history.runs) if place >= first and place not in left_out]
    change = _latest_change(history, known)
    # A change for the better makes a new level too; one whose bad segment is left out is none.
    if change and change.index not in left_out and not _has_recovered_at(change.index, known, places):
        since = max(first, change.index)
        kept = [run for run in kept if places[run.run_id] >= since]
    return kept


def is_as_before(history: History, part: AlertSeries, run: RunValue) -> bool:
    """Tell whether a run's figure is nearer to the level before the change than to the one after."""
    middle = (part.before + part.after) / 2
    return is_worse(history.metric, run.median, middle)


def same_segment(finding: Finding, known: Sequence[AlertSeries]) -> AlertSeries | None:
    """Return the part of an alert that tells of the finding's segment already."""
    places = finding.history.places
    place = places[finding.first_bad.run_id]
    for part in known:
        if part.segment_key == segment_key(finding):
            return part
        other, recovered = places.get(part.first_bad_run_id), places.get(part.recovered_run_id or 0)
        is_near = other is not None and abs(other - place) <= NEAR_RUNS
        if is_near and (recovered is None or place < recovered):
            return part
    return None


def segment_key(finding: Finding) -> str:
    """Return what the segment is known by."""
    return f"{finding.history.series_id}:{finding.first_bad.run_id}"


def changes_of(history: History, first: int = 0) -> list[Change]:
    """Return all changes of a series within its window, from a place on, as its alerts are judged by."""
    if first not in history.changes:
        found = find_changes(
            history.values[first:],
            floor=history.floor_ratio,
            least=least_difference(history.metric),
            log_scale=is_on_log_scale(history.metric),
            only_last_window=True,
        )
        history.changes[first] = [replace(change, index=first + change.index) for change in found]
    return history.changes[first]


def _latest_change(history: History, known: Sequence[AlertSeries]) -> Change | None:
    """Return the latest change; after one that is known a next one shows sooner where the known one is left out."""
    boundaries = (history.places.get(part.recovered_run_id or part.first_bad_run_id) for part in known)
    last_start = len(history.runs) - LEAST_RUNS
    starts = {0, *(place for place in boundaries if place is not None and place <= last_start)}
    latest = (next(reversed(changes_of(history, start)), None) for start in sorted(starts))
    return max((change for change in latest if change), key=lambda change: change.index, default=None)


def _has_recovered_at(index: int, known: Sequence[AlertSeries], places: Mapping[int, int]) -> bool:
    recovered = (places.get(part.recovered_run_id) for part in known if part.recovered_run_id is not None)
    return any(place is not None and abs(place - index) <= NEAR_RUNS for place in recovered)


def _of_change(history: History, change: Change) -> Finding:
    return Finding(
        history=history,
        first_bad=history.runs[change.index],
        last_good=history.runs[change.index - 1] if change.index else None,
        before=change.before,
        after=change.after,
        difference_ratio=change.difference_ratio,
        interval_low_ratio=change.interval_low_ratio,
        interval_high_ratio=change.interval_high_ratio,
        p=change.p,
    )
