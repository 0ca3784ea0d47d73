"""Name the other end where a source only saw it vanish: which engine it is, and what that engine says itself."""

from dataclasses import replace

from workers.engine_client import EngineClient, EngineError
from workers.engine_client.messages import Event


def naming_the_other_end(final: Event, sink: EngineClient, session: str) -> Event:
    """Return a source's final event with its sink named, where the source lost it."""
    if final.type != "failure" or final.body.get("code") != "peer_lost":
        return final
    reason = f"{final.reason}; the other end: {_said_by(sink, session, known=final.reason)}"
    return replace(final, body={**final.body, "reason": reason})


def _said_by(sink: EngineClient, session: str, *, known: str) -> str:
    try:
        told = sink.state(session)
    except EngineError as error:
        # It names the engine.
        return str(error)
    reason = str(told.get("reason") or "")
    return f"{sink.name} says: {reason}" if reason and reason not in known else f"{sink.name} answers."
