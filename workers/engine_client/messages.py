"""Messages of docs/engine-protocol.md, parsed at the boundary."""

import math
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from workers.engine_client.errors import EngineGarbage

FINAL_EVENTS = ("result", "failure")
_EVENTS = ("state", "interval", "result", "failure")


@dataclass(frozen=True)
class SessionSpec:
    """What one engine is asked to do for one trial; the cookie is the same for both ends."""

    role: Literal["source", "sink"]
    kind: str
    params: dict[str, Any]
    cookie: str
    peer: dict[str, Any] | None = None
    bind: dict[str, str] | None = None
    # For so long without a word from its controller a session goes on.
    lease_seconds: float = 60

    def as_json(self) -> dict[str, Any]:
        """Give the document of the PUT, absent fields left out."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class About:
    """What an engine says of itself; `time` is its wall clock."""

    engine_version: str
    catalog_version: int
    boot_id: str
    time: datetime
    data_port: int
    kinds: list[str]
    sessions: int = 0
    # How many at once its operator allows; None for no limit.
    sessions_limit: int | None = None

    @property
    def is_busy(self) -> bool:
        return self.sessions_limit is not None and self.sessions >= self.sessions_limit

    @classmethod
    def parsed(cls, document: Any) -> "About":
        """Check the answer of GET /v1/about; raise EngineGarbage."""
        try:
            return cls(
                engine_version=str(document["engine_version"]),
                catalog_version=int(document["catalog_version"]),
                boot_id=str(document["boot_id"]),
                time=datetime.fromisoformat(document["time"]),
                data_port=_port(document["data_port"]),
                kinds=[str(kind) for kind in document["kinds"]],
                sessions=int(document.get("sessions", 0)),
                sessions_limit=_sessions_limit(document.get("limits") or {}),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EngineGarbage(f"its description of itself can't be read ({error!r:.100})") from error


def _port(value: Any) -> int:
    if not isinstance(value, int) or not 0 < value <= 65535:
        raise ValueError(f"data_port is {value}")
    return value


def _sessions_limit(limits: dict[str, dict[str, Any]]) -> int | None:
    limit = (limits.get("engine") or {}).get("sessions")
    return None if limit is None else int(limit)


@dataclass(frozen=True)
class HostLoad:
    """How busy a host was over the last `seconds`; what its kernel doesn't tell is None."""

    seconds: float
    cpu_ratio: float | None = None
    received_bps: float | None = None
    sent_bps: float | None = None
    link_bps: float | None = None

    @classmethod
    def parsed(cls, document: Any) -> "HostLoad":
        """Check the answer of GET /v1/host; raise EngineGarbage."""
        try:
            interface = document.get("interface") or {}
            return cls(
                seconds=float(document["seconds"]),
                cpu_ratio=_optional(document, "cpu_ratio"),
                received_bps=_optional(interface, "rx_bps"),
                sent_bps=_optional(interface, "tx_bps"),
                link_bps=_optional(interface, "speed_bps"),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise EngineGarbage(f"what it tells of its host can't be read ({error!r:.100})") from error


@dataclass(frozen=True)
class Event:
    """One event of a session; `body` holds what is particular to its type."""

    id: int
    type: str
    body: dict[str, Any]

    @property
    def is_final(self) -> bool:
        return self.type in FINAL_EVENTS

    @classmethod
    def parsed(cls, document: Any) -> "Event":
        """Check one line of the event stream; raise EngineGarbage."""
        if not isinstance(document, dict) or not isinstance(document.get("id"), int):
            raise EngineGarbage("an event has no id")
        if document.get("type") not in _EVENTS:
            raise EngineGarbage(f"an event is of unknown type {document.get('type')!r:.60}")
        return cls(id=document["id"], type=document["type"], body=document)


def _optional(document: dict[str, Any], key: str) -> float | None:
    value = document.get(key)
    if value is None:
        return None
    number = float(value)
    # A rate that isn't finite, or below zero, would stay in an hour's sums for good.
    if not 0 <= number < math.inf:
        raise ValueError(f"{key} is {number}")
    return number
