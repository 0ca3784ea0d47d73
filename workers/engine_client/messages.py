"""Messages of docs/reference/engine-protocol.md, parsed at the boundary."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.reasons import Reason
from benchweb.common.storable import MAXIMUM_NUMBER, is_figure, storable_text
from workers.engine_client.errors import EngineGarbage

FINAL_EVENTS = ("result", "failure")
_EVENTS = ("state", "interval", "result", "failure")
# Of a version or a boot id.
_MAXIMUM_WORD = 40
_MAXIMUM_VERSION = 2**31 - 1
# A host is busy by at most all of its time, but for the rounding of its kernel's ticks.
_MAXIMUM_RATIO = 2.0
# A million times the fastest link of today: a rate beyond it would stay in an hour's sums for good.
_MAXIMUM_BPS = 1e18
_MAXIMUM_PACKET_BYTES = 65_575
# Engines tell three.
_MOST_CANARY_FIGURES = 16
# For so long without a word from its controller an engine's session goes on.
LEASE_SECONDS = 60.0


@dataclass(frozen=True)
class SessionSpec:
    """A request to one engine for one trial; the cookie is the same for both ends."""

    role: Literal["source", "sink"]
    kind: str
    params: dict[str, Any]
    cookie: str
    peer: dict[str, Any] | None = None
    bind: dict[str, str] | None = None
    lease_seconds: float = LEASE_SECONDS

    def as_json(self) -> dict[str, Any]:
        """Return the document of the PUT, absent fields left out."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class About:
    """An engine's words of itself; `time` is its wall clock."""

    engine_version: str
    catalog_version: int
    boot_id: str
    time: datetime
    data_port: int
    kinds: list[str]
    sessions: int = 0
    # How many at once its operator allows; None for no limit.
    sessions_limit: int | None = None
    # Since its start; an engine of before this doesn't say.
    uptime_seconds: float | None = None

    @property
    def is_busy(self) -> bool:
        return self.sessions_limit is not None and self.sessions >= self.sessions_limit

    @classmethod
    def parsed(cls, document: Any) -> "About":
        """Check the answer of GET /v1/about; raise EngineGarbage."""
        try:
            return cls(
                engine_version=storable_text(str(document["engine_version"]), _MAXIMUM_WORD),
                catalog_version=_whole(document["catalog_version"], _MAXIMUM_VERSION),
                boot_id=storable_text(str(document["boot_id"]), _MAXIMUM_WORD),
                time=_moment(document["time"]),
                data_port=_port(document["data_port"]),
                kinds=[storable_text(str(kind)) for kind in document["kinds"]],
                sessions=_whole(document.get("sessions", 0), MAXIMUM_NUMBER),
                sessions_limit=_sessions_limit(document.get("limits") or {}),
                uptime_seconds=_optional(document, "uptime_seconds"),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise EngineGarbage(Reason("answer_about_unreadable", error=f"{error!r:.100}")) from error


def _port(value: Any) -> int:
    if not isinstance(value, int) or not 0 < value <= 65535:
        raise ValueError(f"data_port is {value}")
    return value


def _sessions_limit(limits: dict[str, dict[str, Any]]) -> int | None:
    limit = (limits.get("engine") or {}).get("sessions")
    return None if limit is None else _whole(limit, MAXIMUM_NUMBER)


def _whole(value: Any, most: int) -> int:
    number = int(value)
    if not 0 <= number <= most:
        raise ValueError(f"{number} is not between 0 and {most}")
    return number


def _moment(text: str) -> datetime:
    """Read a time; one without a zone is UTC, as the protocol says."""
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


@dataclass(frozen=True)
class HostLoad:
    """The load of a host over the last `seconds`; what its kernel doesn't tell is None."""

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
                cpu_ratio=_optional(document, "cpu_ratio", _MAXIMUM_RATIO),
                received_bps=_optional(interface, "rx_bps"),
                sent_bps=_optional(interface, "tx_bps"),
                link_bps=_optional(interface, "speed_bps"),
            )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise EngineGarbage(Reason("answer_load_unreadable", error=f"{error!r:.100}")) from error


@dataclass(frozen=True)
class HostPasses:
    """One figure of what a host measured alone: of `n` passes the median, the least and the most."""

    metric: str
    median: float
    least: float
    most: float
    n: int

    @classmethod
    def all_parsed(cls, document: Any) -> "list[HostPasses]":
        """Check the answer of POST /v1/canary; raise EngineGarbage."""
        try:
            return [cls._parsed(figure) for figure in document["figures"][:_MOST_CANARY_FIGURES]]
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise EngineGarbage(Reason("answer_canary_unreadable", error=f"{error!r:.100}")) from error

    @classmethod
    def _parsed(cls, document: Any) -> "HostPasses":
        least, median, most = (float(document[key]) for key in ("least", "median", "most"))
        if not 0 < least <= median <= most <= _MAXIMUM_BPS:
            raise ValueError(f"median is {median}, least {least}, most {most}")
        metric = storable_text(str(document["metric"]), _MAXIMUM_WORD)
        return cls(metric, median, least, most, n=_whole(document["n"], MAXIMUM_NUMBER))


@dataclass(frozen=True)
class PathOpened:
    """A sink's part of a path check: its data port, and how much has come there."""

    data_port: int
    tcp: int
    udp: int

    @classmethod
    def parsed(cls, document: Any) -> "PathOpened":
        """Check a sink's answer to POST /v1/path-checks; raise EngineGarbage."""
        try:
            arrived = document["arrived"]
            tcp, udp = (_whole(arrived[name], MAXIMUM_NUMBER) for name in ("tcp", "udp"))
            return cls(data_port=_port(document["data_port"]), tcp=tcp, udp=udp)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise EngineGarbage(f"what it says of a path check can't be read ({error!r:.100})") from error


@dataclass(frozen=True)
class PathPassage:
    """A protocol that passes, or why not; `fault` is refused, timed_out, unreachable or no_answer."""

    passes: bool
    round_trip_seconds: float | None = None
    fault: str = ""
    message: str = ""


@dataclass(frozen=True)
class PathLook:
    """A source's findings; a way of (packet bytes, whether larger ones vanish silently), None where nobody knows."""

    tcp: PathPassage
    udp: PathPassage
    forward: tuple[int, bool] | None
    backward: tuple[int, bool] | None

    @classmethod
    def parsed(cls, document: Any) -> "PathLook":
        """Check a source's answer to POST /v1/path-checks; raise EngineGarbage."""
        try:
            return cls(
                tcp=_passage(document["tcp"]),
                udp=_passage(document["udp"]),
                forward=_way(document.get("forward")),
                backward=_way(document.get("backward")),
            )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise EngineGarbage(f"what it found of a path can't be read ({error!r:.100})") from error


def _passage(document: Any) -> PathPassage:
    return PathPassage(
        passes=document["passes"] is True,
        round_trip_seconds=_optional(document, "round_trip_seconds"),
        fault=storable_text(str(document.get("fault") or ""), _MAXIMUM_WORD),
        message=storable_text(str(document.get("message") or "")),
    )


def _way(document: Any) -> tuple[int, bool] | None:
    if document is None:
        return None
    return _whole(document["mtu_bytes"], _MAXIMUM_PACKET_BYTES), document["is_silent"] is True


@dataclass(frozen=True)
class EngineEvent:
    """One event of a session; `body` holds what is particular to its type."""

    id: int
    type: str
    body: dict[str, Any]

    @property
    def is_final(self) -> bool:
        return self.type in FINAL_EVENTS

    @classmethod
    def parsed(cls, document: Any) -> "EngineEvent":
        """Check one line of the event stream; raise EngineGarbage."""
        if not isinstance(document, dict) or type(document.get("id")) is not int or document["id"] < 0:
            raise EngineGarbage(Reason("answer_event_without_id"))
        if document.get("type") not in _EVENTS:
            raise EngineGarbage(Reason("answer_event_unknown", type=f"{document.get('type')!r:.60}"))
        return cls(id=document["id"], type=document["type"], body=document)

    @property
    def interval(self) -> dict[str, Any]:
        """Return what an interval measured, without what is no figure; nothing for one that can't be read."""
        interval = self.body.get("interval")
        if not isinstance(interval, dict) or not all(
            is_figure(interval.get(end)) for end in ("start_seconds", "end_seconds")
        ):
            return {}
        metrics = interval.get("metrics")
        figures = metrics.items() if isinstance(metrics, dict) else ()
        return interval | {"metrics": {key: value for key, value in figures if is_figure(value)}}

    @property
    def reason(self) -> str:
        """Return the reason of a failure."""
        given = self.body.get("reason")
        if isinstance(given, Reason):
            return given
        if not given:
            return Reason("engine_gave_no_reason")
        return engine_reason(storable_text(str(given)), self.body.get("reason_data"))


def _optional(document: dict[str, Any], key: str, most: float = _MAXIMUM_BPS) -> float | None:
    value = document.get(key)
    if value is None:
        return None
    number = float(value)
    if not 0 <= number <= most:
        raise ValueError(f"{key} is {number}")
    return number
