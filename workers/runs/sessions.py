"""The sessions of a trial: one on each engine, or one alone where one host is measured."""

import logging
import threading
import time
from functools import partial

from benchweb.catalog import catalog
from benchweb.runs.models import Trial
from workers.engine_client import EngineClient, EngineError
from workers.engines.ends import Ends
from workers.runs.stopping import quietly, stops

_log = logging.getLogger(__name__)
# To follow the source's events renews its lease, but not the sink's.
RENEWAL_SECONDS = 15.0


def is_of_one_host(trial: Trial) -> bool:
    """Tell whether a trial has no sink."""
    kind = catalog().kinds.get(trial.kind)
    return kind is not None and kind.is_of_one_host


def _sessions(trial: Trial, ends: Ends) -> list[tuple[EngineClient, str]]:
    """Return the trial's sessions with the engines that have them, the source's first."""
    source = (ends.source, f"{trial.session}-source")
    return [source] if is_of_one_host(trial) else [source, (ends.sink, f"{trial.session}-sink")]


def acknowledge(trial: Trial, ends: Ends) -> None:
    """Let the engines forget the trial; what they don't hear they forget by themselves after a day."""
    for client, session in _sessions(trial, ends):
        quietly(partial(client.acknowledge, session))


def stop_sessions(trial: Trial, ends: Ends, reason: str) -> None:
    """Stop all ends now, side by side: one that doesn't answer must not keep the other running."""
    for client, session in _sessions(trial, ends):
        stops.send(partial(client.cancel, session, reason), name=f"stop-{trial.pk}")


def sink_started_at(trial: Trial, ends: Ends) -> str:
    """Return when the sink's session began by its host's clock; empty where it doesn't tell."""
    try:
        for event in ends.sink.events(f"{trial.session}-sink"):
            if event.type == "state":
                return str(event.body.get("started_at") or "")
    except EngineError as error:
        _log.info("%s", error)
    return ""


class Renewal:
    """Renews the sink's lease now and then, beside the events: a sink that hangs must not hold up the source's."""

    def __init__(self, trial: Trial, ends: Ends) -> None:
        self._sinks = _sessions(trial, ends)[1:]
        self._due_at = time.monotonic() + RENEWAL_SECONDS
        self._thread: threading.Thread | None = None

    def renew_if_due(self) -> None:
        """Renew it if it is time, and the last one isn't still on its way."""
        if time.monotonic() < self._due_at or (self._thread and self._thread.is_alive()):
            return
        self._due_at = time.monotonic() + RENEWAL_SECONDS
        for client, session in self._sinks:
            call = partial(client.renew, session)
            self._thread = threading.Thread(target=quietly, args=(call,), name=f"renew-{session}", daemon=True)
            self._thread.start()
