"""One simulated engine: the calls of the control protocol, and what its faults do to them."""

import asyncio
import ssl
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bench.fleet import http
from bench.fleet.http import Refused, Request
from bench.fleet.results import VERSION, catalog_version, facts_of, kinds, stamp
from bench.fleet.sessions import Session
from workers.engine_client.proof import token_proof

FAULTS = ("none", "refuse", "hang", "unreachable", "kill", "reboot")
LEASE_SECONDS = 60
ALIVE_SECONDS = 1.0
# What a real engine takes to notice that the other one is silent.
PEER_SILENCE_SECONDS = 3.0
_PREFIX = "/v1/sessions/"
_RESTARTED = "the engine was restarted while this session ran; run the test again"


class Engine:
    """Listens on one address; `begin` is called with every new source session and gives its traffic's task."""

    def __init__(self, number: int, address: str, token: str, begin: Callable[["Engine", Session], Any]) -> None:
        self.number = number
        self.address = address
        self.port = 0
        self.boot_id = str(uuid.uuid4())
        self.fault = "none"
        # Of the usual figure its trials have such a share.
        self.share = 1.0
        self.sessions: dict[str, Session] = {}
        self.awake = asyncio.Event()
        self.awake.set()
        # Of the certificate that it shows.
        self.fingerprint = ""
        self._token = token
        self._begin = begin
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def listen(self, port: int, tls: ssl.SSLContext) -> None:
        """Listen on the port, or on a free one for 0; the same one again after a fault."""
        self._tls = tls
        self._server = await asyncio.start_server(self._serve, self.address, self.port or port, ssl=tls, backlog=64)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def facts(self) -> dict[str, Any]:
        return facts_of(self.number, self.boot_id, self.address)

    def sink_of(self, cookie: str) -> Session | None:
        """Find the sink session that a source's cookie names."""
        for session in self.sessions.values():
            if session.role == "sink" and session.spec["cookie"] == cookie and not session.is_final:
                return session
        return None

    async def suffer(self, fault: str) -> bool:
        """Take a fault on, or none; tell whether sessions died of it."""
        self.fault = fault
        open_sessions = [session for session in self.sessions.values() if not session.is_final]
        if has_died := fault in ("kill", "reboot"):
            # What was finished waits on the engine's disk; what ran is found there as failed, its events lost.
            for session in open_sessions:
                session.events.clear()
                session.fail("failed", "internal", _RESTARTED, None)
        if fault == "reboot":
            self.boot_id = str(uuid.uuid4())
        (self.awake.clear if fault == "hang" else self.awake.set)()
        if fault in ("unreachable", "kill", "reboot"):
            self.cut_off()
        if fault in ("none", "reboot") and self._server is None:
            await self.listen(self.port, self._tls)
        return has_died

    def cut_off(self) -> None:
        """Stop listening and break every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await http.read_request(reader)) is not None:
                await self.awake.wait()
                try:
                    await self._answer(request, writer)
                except Refused as error:
                    http.answer_refused(writer, error)
                await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if (request.method, request.path) == ("POST", "/v1/proof"):
            http.answer(writer, 200, {"proofs": [token_proof(self._token, request.body["nonce"], self.fingerprint)]})
            return
        if request.token != self._token:
            raise Refused(401, "unauthorised", "the token is not this engine's")
        if request.path.startswith(_PREFIX):
            name, _, action = request.path.removeprefix(_PREFIX).partition("/")
            if request.method == "GET" and action == "events":
                await self._stream(self._known(name), int(request.query.get("after", ["0"])[0]), writer)
                return
            http.answer(writer, *self._session_call(request, name, action))
            return
        answers: dict[str, Callable[[], Any]] = {"/v1/about": self._about, "/v1/facts": lambda: self.facts}
        if request.method != "GET" or request.path not in answers:
            raise Refused(404, "not_found", f"{request.method} {request.path} is not simulated")
        http.answer(writer, 200, answers[request.path]())

    def _session_call(self, request: Request, name: str, action: str) -> tuple[int, Any]:
        match (request.method, action):
            case ("PUT", ""):
                return self._create(name, request.body)
            case ("GET", ""):
                return 200, self._known(name).answer(self.port)
            case ("POST", "cancel"):
                reason = (request.body or {}).get("reason") or "cancelled by the controller"
                self._cancel(self._known(name), reason)
                return 200, self._known(name).answer(self.port)
            case ("DELETE", ""):
                if (session := self.sessions.pop(name, None)) is not None:
                    self._cancel(session, "forgotten by the controller")
                return 200, {}
        raise Refused(404, "not_found", f"{request.method} {request.path} is not a call")

    def _create(self, name: str, spec: dict[str, Any]) -> tuple[int, Any]:
        if (known := self.sessions.get(name)) is not None:
            if known.spec != spec:
                raise Refused(409, "conflict", f"session {name} exists with other content")
            known.heard_at = time.monotonic()
            return 200, known.answer(self.port)
        if self.fault == "refuse":
            raise Refused(429, "limit", "this engine takes no more sessions: its operator asked it to refuse")
        if spec["kind"] not in kinds():
            raise Refused(422, "invalid", f"the kind {spec['kind']} is not simulated")
        session = self.sessions[name] = Session(name, spec)
        if session.role == "source":
            session.traffic = asyncio.create_task(self._begin(self, session))
        return 201, session.answer(self.port)

    def _cancel(self, session: Session, reason: str) -> None:
        if session.traffic is not None:
            session.traffic.cancel()
        session.fail("cancelled", "cancelled", reason, None)

    async def _stream(self, session: Session, after: int, writer: asyncio.StreamWriter) -> None:
        http.begin_stream(writer)
        while True:
            news = await session.news_after(after, ALIVE_SECONDS)
            await self.awake.wait()
            session.heard_at = time.monotonic()
            http.chunk(writer, b"".join(news) or b"\n")
            await writer.drain()
            after += len(news)
            if session.is_final and after >= len(session.events):
                http.chunk(writer, b"")
                return

    def _known(self, name: str) -> Session:
        if (session := self.sessions.get(name)) is None:
            raise Refused(404, "not_found", f"session {name} is not known here")
        session.heard_at = time.monotonic()
        return session

    def _about(self) -> dict[str, Any]:
        return {
            "engine_version": VERSION,
            "protocol_version": 1,
            "catalog_version": catalog_version(),
            "boot_id": self.boot_id,
            "time": stamp(datetime.now(UTC)),
            "data_port": self.port,
            "sessions": sum(not session.is_final for session in self.sessions.values()),
            "kinds": sorted(kinds()),
            "url_prefixes": [],
            "limits": {"engine": {}, "token": {}},
        }
