"""A thousand engines in one process, the traffic between them, and a record of what they really did."""

import asyncio
import ipaddress
import ssl
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.fleet.certificate import write_certificate
from bench.fleet.engine import LEASE_SECONDS, PEER_SILENCE_SECONDS, Engine
from bench.fleet.results import intervals_of, kinds, result_of
from bench.fleet.sessions import Session

HOUSEKEEPING_SECONDS = 1.0


@dataclass
class Record:
    """What the fleet saw with its own clock: the judge of what the database says."""

    # Trials measured whole, by the source session's name; more than once is a doubled measurement.
    measured: Counter[str] = field(default_factory=Counter)
    # Sessions that ran on one engine at once although one of them is exclusive.
    overlaps: list[tuple[int, str, str]] = field(default_factory=list)
    most_at_once: int = 0
    busy_seconds: float = 0.0


@dataclass
class Traffic:
    """A trial under way: both ends and both engines."""

    source: Session
    sink: Session
    engines: tuple[Engine, Engine]
    exclusive: bool


class Fleet:
    """The engines; addresses count up from the network's first."""

    def __init__(self, count: int, network: str, token: str) -> None:
        first = ipaddress.ip_network(network).network_address + 1
        self.engines = [Engine(number, str(first + number), token, self._begin) for number in range(count)]
        self.record = Record()
        self._under_way: dict[str, Traffic] = {}
        self._cut_paths: set[frozenset[int]] = set()

    async def listen(self, port: int, certificate: Path) -> str:
        """Listen with every engine; return the fingerprint that all of them show."""
        fingerprint = write_certificate(certificate)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
        tls.load_cert_chain(certificate)
        for engine in self.engines:
            engine.fingerprint = fingerprint
            await engine.listen(port, tls)
        self._at = {(engine.address, engine.port): engine for engine in self.engines}
        return fingerprint

    async def keep_house(self) -> None:
        """End the sessions whose controller fell silent, for ever."""
        while True:
            await asyncio.sleep(HOUSEKEEPING_SECONDS)
            now = time.monotonic()
            for engine in self.engines:
                for session in engine.sessions.values():
                    lease_seconds = session.spec.get("lease_seconds", LEASE_SECONDS)
                    if not session.is_final and now - session.heard_at > lease_seconds:
                        session.fail("failed", "controller_lost", f"silent for {lease_seconds} s", None)

    async def suffer(self, number: int, fault: str) -> None:
        """Inject a fault into an engine, and tell the other ends of what was under way."""
        engine = self.engines[number]
        has_died = await engine.suffer(fault)
        for traffic in self._traffic_of(engine):
            if fault == "hang":
                asyncio.get_running_loop().call_later(PEER_SILENCE_SECONDS, self._lose_silent, traffic, engine)
            elif has_died:
                self._lose(traffic, engine)

    def cut(self, first: int, second: int, is_cut: bool) -> None:
        """Cut the path of test traffic between two engines, or mend it."""
        path = frozenset((first, second))
        (self._cut_paths.add if is_cut else self._cut_paths.discard)(path)
        for traffic in list(self._under_way.values()) if is_cut else []:
            if {engine.number for engine in traffic.engines} == path:
                for engine in traffic.engines:
                    asyncio.get_running_loop().call_later(PEER_SILENCE_SECONDS, self._lose, traffic, engine)

    def slow(self, number: int, share: float) -> None:
        """Let an engine's trials have a share of the usual figure from now on."""
        self.engines[number].share = share

    def report(self) -> dict[str, Any]:
        """Return the record as JSON."""
        sessions = [session for engine in self.engines for session in engine.sessions.values()]
        return {
            "measured": dict(self.record.measured),
            "overlaps": self.record.overlaps,
            "most_at_once": self.record.most_at_once,
            "busy_seconds": self.record.busy_seconds,
            "open_sessions": [session.name for session in sessions if not session.is_final],
            "unacknowledged": sum(session.is_final for session in sessions),
        }

    async def _begin(self, engine: Engine, source: Session) -> None:
        """Carry a trial's traffic from its source's creation to both ends' results."""
        peer = source.spec.get("peer") or {}
        other = self._at.get((str(peer.get("address")), int(peer.get("data_port") or 0)))
        sink = other.sink_of(source.spec["cookie"]) if other and self._is_open(engine, other) else None
        if other is None or sink is None:
            where = f"{peer.get('address')}:{peer.get('data_port')}"
            source.fail("failed", "unreachable", f"no sink answers at {where}", None)
            return
        kind = kinds()[source.spec["kind"]]
        traffic = Traffic(source, sink, (engine, other), kind.is_exclusive(source.spec["params"]))
        self._enter(traffic)
        try:
            await self._measured(traffic)
        finally:
            self._under_way.pop(source.name, None)
            if not sink.is_final:
                sink.fail("failed", "peer_lost", "the source's link broke", None)

    async def _measured(self, traffic: Traffic) -> None:
        source, sink = traffic.source, traffic.sink
        kind = kinds()[source.spec["kind"]]
        duration_seconds = kind.duration_seconds(source.spec["params"])
        source.start()
        sink.start()
        whole_seconds = 1.0
        while (left := duration_seconds - source.elapsed_seconds) > 0:
            await asyncio.sleep(min(left, 1.0))
            for engine in traffic.engines:
                await engine.awake.wait()
            if source.is_final or sink.is_final:
                source.fail("failed", "peer_lost", "the sink's link broke", None)
                return
            if source.elapsed_seconds >= whole_seconds < duration_seconds:
                source.interval(intervals_of(kind, whole_seconds, 1.0)[-1])
                whole_seconds += 1.0
        facts = {"source": traffic.engines[0].facts, "sink": traffic.engines[1].facts}
        assert source.started_at is not None
        share = min(engine.share for engine in traffic.engines)
        result = result_of(kind, source.spec["params"], source.started_at, source.elapsed_seconds, facts, share)
        self.record.measured[source.name] += 1
        self.record.busy_seconds += source.elapsed_seconds
        source.finish(result)
        sink.finish({key: value for key, value in result.items() if key != "source"})

    def _enter(self, traffic: Traffic) -> None:
        for engine in set(traffic.engines):
            for other in self._traffic_of(engine):
                if traffic.exclusive or other.exclusive:
                    self.record.overlaps.append((engine.number, other.source.name, traffic.source.name))
        self._under_way[traffic.source.name] = traffic
        self.record.most_at_once = max(self.record.most_at_once, len(self._under_way))

    def _traffic_of(self, engine: Engine) -> list[Traffic]:
        return [traffic for traffic in self._under_way.values() if engine in traffic.engines]

    def _lose_silent(self, traffic: Traffic, engine: Engine) -> None:
        if engine.fault == "hang":
            self._lose(traffic, engine)

    def _lose(self, traffic: Traffic, engine: Engine) -> None:
        """Tell the end that is not on `engine` that it lost the other."""
        end = traffic.sink if traffic.engines[0] is engine else traffic.source
        end.fail("failed", "peer_lost", "the other engine fell silent", None)

    def _is_open(self, one: Engine, other: Engine) -> bool:
        reachable = other.fault in ("none", "refuse", "unreachable")
        return reachable and frozenset((one.number, other.number)) not in self._cut_paths
