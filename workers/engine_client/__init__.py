"""Talk to an engine: bytes to typed messages, with a time-out on every call. No ORM."""

from workers.engine_client.certificates import PresentedCertificate, presented_certificate
from workers.engine_client.channel import Trust
from workers.engine_client.client import EngineClient
from workers.engine_client.errors import (
    EngineDown,
    EngineError,
    EngineGarbage,
    EngineRefused,
    EngineUndisclosed,
    EngineUnreachable,
)
from workers.engine_client.messages import About, EngineEvent, HostLoad, SessionSpec

__all__ = [
    "About",
    "EngineClient",
    "EngineDown",
    "EngineError",
    "EngineEvent",
    "EngineGarbage",
    "EngineRefused",
    "EngineUndisclosed",
    "EngineUnreachable",
    "HostLoad",
    "PresentedCertificate",
    "SessionSpec",
    "Trust",
    "presented_certificate",
]
