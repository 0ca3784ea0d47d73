"""What came back by itself: noticed per series, and told once per alert."""

from collections.abc import Mapping, Sequence

from benchweb.regressions import transitions
from benchweb.regressions.judging.findings import is_as_before
from benchweb.regressions.judging.grouping import describe
from benchweb.regressions.judging.histories import History
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries

State = Alert.State
# So many runs in a row must be as before; of what one run alone showed one is enough.
RECOVERED_RUNS = 3


def notice(found: Sequence[History], known: Mapping[int, Sequence[AlertSeries]]) -> list[int]:
    """Mark the series that came back, end the alerts all of whose series did, and return these alerts' ids.

    An alert that goes on is described anew: what was chance doesn't tell where the fault is.
    """
    concerned: dict[int, Alert] = {}
    for history in found:
        for part in known.get(history.series_id, ()):
            if _is_waited_for(part) and (run_id := _recovered_at(history, part)):
                AlertSeries.objects.filter(pk=part.pk).update(recovered_run=run_id)
                part.recovered_run_id = run_id
                concerned[part.alert_id] = part.alert
    ended = [alert_id for alert_id in sorted(concerned) if end_if_recovered(alert_id)]
    for alert_id in concerned.keys() - ended:
        describe(concerned[alert_id])
    return ended


def _is_waited_for(part: AlertSeries) -> bool:
    """Tell whether a series may come back by a run of its own; what is measured again is judged by that alone."""
    is_measured_again = part.alert.state == State.CONFIRMING and part.rerun_id is not None
    return part.recovered_run_id is None and part.alert.state in LIVE_STATES and not is_measured_again


def _recovered_at(history: History, part: AlertSeries) -> int | None:
    """Return the first of the latest runs that are as before, if they are enough; else None."""
    place = history.places.get(part.first_bad_run_id)
    after = history.runs if place is None else history.runs[place + 1 :]
    needed = RECOVERED_RUNS if part.is_confirmed and part.alert.state != State.SUSPECT else 1
    latest = after[-needed:]
    if len(latest) < needed or not all(is_as_before(history, part, run) for run in latest):
        return None
    return latest[0].run_id


def end_if_recovered(alert_id: int) -> bool:
    """End an alert all of whose series came back; True when it was ended."""
    if AlertSeries.objects.filter(alert=alert_id, recovered_run=None).exists():
        return False
    return transitions.move(alert_id, State.RECOVERED)
