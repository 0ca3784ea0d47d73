"""Name the end that a trial lost: which engine it is, when it was restarted, what it says itself."""

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.reasons import Reason
from workers.engine_client import EngineClient, EngineError, EngineUnreachable
from workers.engine_client.messages import EngineEvent

# As the engine says of the sessions that it finds on its disk when it starts.
_RESTARTED = Reason("says_restarted")
# An engine that is being restarted is given so long to answer again.
RESTART_SECONDS = 5.0
_PAUSE_SECONDS = 0.5


def naming_the_end(
    final: EngineEvent, *, source: EngineClient, sink: EngineClient, session: str, since: timedelta
) -> EngineEvent:
    """Return a source's final event with the engine named that was lost; the trial began so long ago."""
    if final.type != "failure":
        return final
    if _RESTARTED in final.reason:
        return _with_reason(final, _restart_text("source", source, since))
    if final.body.get("code") != "peer_lost":
        return final
    return _with_reason(
        final,
        Reason("other_end", reason=final.reason, state=_reason_of(sink, session, since, known=final.reason)),
    )


def _with_reason(final: EngineEvent, reason: str) -> EngineEvent:
    return replace(final, body={**final.body, "reason": reason})


def _reason_of(sink: EngineClient, session: str, since: timedelta, *, known: str) -> str:
    try:
        reported = _state(sink, session)
    except EngineError as error:
        # It names the engine.
        return error.reason
    reason = engine_reason(str(reported.get("reason") or ""), reported.get("reason_data"))
    if _RESTARTED in reason:
        return _restart_text("sink", sink, since)
    if not reason or reason in known:
        return Reason("engine_answers", engine=sink.name)
    return Reason("engine_says", engine=sink.name, reason=reason)


def _state(sink: EngineClient, session: str) -> dict[str, Any]:
    """Ask the sink until it answers: an engine that is being restarted takes a moment."""
    deadline = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            return sink.state(session)
        except EngineUnreachable:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def _restart_text(role: str, client: EngineClient, since: timedelta) -> str:
    """Say which engine was restarted, and when; an engine of an older version doesn't know."""
    try:
        uptime = client.about().uptime_seconds
    except EngineError:
        uptime = None
    if uptime is None or timedelta(seconds=uptime) > since:
        return Reason(f"{role}_restarted", engine=client.called)
    at = timezone.now() - timedelta(seconds=uptime)
    return Reason(f"{role}_restarted_at", engine=client.called, at=f"{at:%H:%M}")
