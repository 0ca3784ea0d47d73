"""Notice what came back by itself: per series, and told once per alert."""

from collections.abc import Mapping, Sequence

from benchweb.regressions import transitions
from benchweb.regressions.deciding import RECOVERED_RUNS
from benchweb.regressions.judging.findings import changes_of, is_as_before
from benchweb.regressions.judging.grouping import describe, is_sure
from benchweb.regressions.judging.histories import History
from benchweb.regressions.judging.parts import part_off
from benchweb.regressions.judging.watched import is_worse
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries

State = Alert.State


def notice_recovered(watched: Sequence[History], known: Mapping[int, Sequence[AlertSeries]]) -> list[int]:
    """Mark the series that came back, end the alerts all of whose series did, and return these alerts' ids.

    An alert that goes on is described anew: what was chance doesn't tell where the fault is.
    """
    concerned: dict[int, Alert] = {}
    for history in watched:
        for part in known.get(history.series_id, ()):
            if is_waited_for(part) and (run_id := recovered_at(history, part)):
                AlertSeries.objects.filter(pk=part.pk).update(recovered_run=run_id)
                part.recovered_run_id = run_id
                concerned[part.alert_id] = part.alert
    ended = [alert_id for alert_id in sorted(concerned) if end_if_recovered(alert_id)]
    for alert_id in concerned.keys() - ended:
        describe(concerned[alert_id])
    return ended


def is_waited_for(part: AlertSeries) -> bool:
    """Tell whether a series may come back by a run of its own; what is measured again is judged by that alone."""
    is_measured_again = part.alert.state == State.CONFIRMING and part.rerun_id is not None
    return part.recovered_run_id is None and part.alert.state in LIVE_STATES and not is_measured_again


def recovered_at(history: History, part: AlertSeries) -> int | None:
    """Return the first of the latest runs that are as before, if they are enough; else None."""
    index = history.places.get(part.first_bad_run_id)
    if part.mode_share_before is not None:
        return _better_since(history, index or 0)
    after = history.runs if index is None else history.runs[index + 1 :]
    needed = RECOVERED_RUNS if _is_known(part, history.runs[-1].run_id) else 1
    latest = after[-needed:]
    if len(latest) < needed or not all(is_as_before(history, part, run) for run in latest):
        return None
    return latest[0].run_id


def _is_known(part: AlertSeries, latest_run: int) -> bool:
    """Tell whether runs or a person confirmed it: then one good run ends it no more, unless it measured it again."""
    if part.alert.state in (State.ACKNOWLEDGED, State.SUSPECT):
        return part.alert.state == State.ACKNOWLEDGED
    return part.p is not None or part.rerun_id not in (None, latest_run)


def _better_since(history: History, first: int) -> int | None:
    """Return the run from which on a series with two modes is better again: one run alone is always at either mode."""
    changes = [change for change in changes_of(history, first) if change.mode_shares is not None]
    better = (change for change in changes if not is_worse(history.metric, change.before, change.after))
    return next((history.runs[change.index].run_id for change in better), None)


def end_if_recovered(alert_id: int) -> bool:
    """End an alert once all that was sure of it came back, or where nothing was sure all of it; True when ended.

    What one run alone showed, and none has measured since, is a suspect of its own then.
    """
    parts = list(AlertSeries.objects.filter(alert=alert_id).select_related("rerun", "series__pair"))
    lasting = [part for part in parts if part.recovered_run_id is None]
    if any(is_sure(part) for part in lasting) or (lasting and not any(is_sure(part) for part in parts)):
        return False
    ended = transitions.move(alert_id, State.RECOVERED)
    if ended and lasting:
        describe(part_off(Alert.objects.get(pk=alert_id), lasting, state=State.SUSPECT))
    return ended
