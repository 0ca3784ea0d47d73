"""Talk to an engine: bytes to typed messages, with a time-out on every call. No ORM."""

from workers.engine_client.client import EngineClient, seen_fingerprint
from workers.engine_client.errors import EngineDown, EngineError, EngineGarbage, EngineRefused, EngineUnreachable
from workers.engine_client.messages import About, Event, HostLoad, SessionSpec

__all__ = [
    "About",
    "EngineClient",
    "EngineDown",
    "EngineError",
    "EngineGarbage",
    "EngineRefused",
    "EngineUnreachable",
    "Event",
    "HostLoad",
    "SessionSpec",
    "seen_fingerprint",
]
