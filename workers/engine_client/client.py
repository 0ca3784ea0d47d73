"""One engine's control API over kept-alive TLS connections, its certificate pinned."""

import json
from collections.abc import Callable, Iterator
from http import HTTPStatus
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError, ProtocolError, SSLError
from urllib3.exceptions import TimeoutError as Timeout

from benchweb.catalog.reasons import Reason, reason_of_error
from workers.engine_client.answers import body_of, decoded, document_of, garbage, lines_of, refusal
from workers.engine_client.certificates import CONNECT_SECONDS, other_certificate
from workers.engine_client.channel import EngineChannel, Trust
from workers.engine_client.errors import EngineDown, EngineGarbage, EngineRefused, EngineUnreachable
from workers.engine_client.faults import cause, engine_called, engine_name, unreachable, unusable
from workers.engine_client.messages import About, EngineEvent, HostLoad, HostPasses, PathLook, PathOpened, SessionSpec
from workers.engine_client.proof import is_proven, new_nonce

# For a whole answer, from its first byte to its last.
ANSWER_SECONDS = 5.0
# A sink answers when it is ready, which on a loaded host takes its process a while.
CREATE_SECONDS = 10.0
# The engine sends a blank line each second: three missing ones are a hang.
EVENT_SILENCE_SECONDS = 4.0
# The engine's own bound is about a second; whoever waits longer holds up a run.
CANARY_SECONDS = 2.0
# A look at a path that carries nothing takes as long as its time-outs.
PATH_SECONDS = 45.0


class EngineClient:
    """Calls of one engine, each within a time as a whole, and repeatable; errors name the engine and a next step."""

    def __init__(
        self,
        *,
        name: str,
        host: str,
        port: int,
        token: str,
        fingerprint: str,
        address: str = "",
        read_trust: Callable[[], Trust | None] | None = None,
    ) -> None:
        """`name` is for messages; the token, if any, is shown only to the certificate of `fingerprint` ("sha256:…").

        All connections go to `address`, an IP address of `host`: a name that moves leads no call to another engine.
        When the engine refuses the token or shows another certificate, `read_trust` is asked once for what is stored
        by now: a token is sent to the certificate that it is stored with.
        """
        self.name = engine_name(name, host, port, address)
        # The same within a sentence.
        self.called = engine_called(name, host, port, address)
        self.address = address or host
        self.port = port
        trust = Trust(token, fingerprint)
        # Without one urllib3 would check nothing, and the token would go to whoever answers.
        if not trust.is_pinned:
            raise EngineRefused(Reason("engine_not_pinned", engine=self.name), code="fingerprint")
        try:
            self._channels = [EngineChannel(trust, self.address, port)]
        except ValueError as error:
            raise unusable(self.name, error) from error
        self._read_trust = read_trust

    def __enter__(self) -> "EngineClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        for channel in self._channels:
            channel.pool.close()

    def proves(self, token: str) -> bool:
        """Ask for a proof that the engine knows a token, without sending it; raise EngineRefused where it can't."""
        nonce = new_nonce()
        status, data = self._answer("POST", "/v1/proof", body={"nonce": nonce})
        # An engine of before this call asks for a token first.
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED):
            raise EngineRefused(Reason("engine_unproven", engine=self.name), code="unproven")
        try:
            document, fingerprint = document_of(self.name, status, data), self._channels[-1].trust.fingerprint
            return is_proven(document, token=token, nonce=nonce, fingerprint=fingerprint)
        except ValueError as error:
            raise garbage(self.name, reason_of_error(error)) from error

    def about(self) -> About:
        """Ask who answers."""
        return About.parsed(self._json("GET", "/v1/about"))

    def facts(self) -> dict[str, Any]:
        """Ask for the facts of the engine's host."""
        facts = self._json("GET", "/v1/facts")
        if not isinstance(facts, dict):
            raise garbage(self.name, Reason("answer_facts_no_object"))
        return facts

    def host_load(self, *, address: str, device: str = "") -> HostLoad:
        """Ask how busy the host and its interface with this address, or of this name, were in the last minute."""
        query = {name: value for name, value in (("address", address), ("device", device)) if value}
        return HostLoad.parsed(self._json("GET", f"/v1/host?{urlencode(query, safe=':')}"))

    def canary(self) -> list[HostPasses]:
        """Have the engine measure its host alone, for about a second."""
        return HostPasses.all_parsed(self._json("POST", "/v1/canary", seconds=CANARY_SECONDS))

    def open_path(self, cookie: str) -> PathOpened:
        """Ask a sink's engine to answer the path check with this cookie, and what has come to it by now."""
        return PathOpened.parsed(self._json("POST", "/v1/path-checks", body={"role": "sink", "cookie": cookie}))

    def look_at_path(self, cookie: str, peer: dict[str, Any], bind: dict[str, str] | None) -> PathLook:
        """Have a source's engine look at its path to a sink that was asked to answer."""
        body = {"role": "source", "cookie": cookie, "peer": peer} | ({"bind": bind} if bind else {})
        return PathLook.parsed(self._json("POST", "/v1/path-checks", body=body, seconds=PATH_SECONDS))

    def take_token(self, token: str) -> None:
        """Have the engine accept another token beside this client's, which ends when the other is used."""
        self._json("POST", "/v1/token", body={"token": token})

    def announce_certificate(self) -> str:
        """Have the engine make its next certificate; return its fingerprint: it is shown to whoever pinned it."""
        document = self._json("POST", "/v1/certificate")
        fingerprint = document.get("fingerprint") if isinstance(document, dict) else None
        if not isinstance(fingerprint, str) or not Trust("", fingerprint).is_pinned:
            raise garbage(self.name, Reason("answer_fingerprint_unreadable"))
        return fingerprint

    def create(self, session: str, spec: SessionSpec) -> dict[str, Any]:
        """Create a session; repeating it with the same spec is harmless."""
        document = self._json("PUT", f"/v1/sessions/{session}", body=spec.as_json(), seconds=CREATE_SECONDS)
        if not isinstance(document, dict) or "state" not in document:
            raise garbage(self.name, Reason("answer_session_without_state"))
        return document

    def cancel(self, session: str, reason: str) -> None:
        """Stop a session now."""
        self._json("POST", f"/v1/sessions/{session}/cancel", body={"reason": reason})

    def acknowledge(self, session: str) -> None:
        """Tell the engine that the session's result is kept, so that it may forget it."""
        self._json("DELETE", f"/v1/sessions/{session}")

    def renew(self, session: str) -> None:
        """Tell the engine that the session's controller is still there."""
        self._json("GET", f"/v1/sessions/{session}")

    def state(self, session: str) -> dict[str, Any]:
        """Return where a session stands: its state, and code and reason where it failed."""
        document = self._json("GET", f"/v1/sessions/{session}")
        if not isinstance(document, dict):
            raise garbage(self.name, Reason("answer_session_no_object"))
        return document

    def events(
        self, session: str, after: int = 0, on_sign_of_life: Callable[[], None] | None = None
    ) -> Iterator[EngineEvent]:
        """Return the session's events from `after` on, until the final one; raises EngineUnreachable when cut off.

        `on_sign_of_life` is called with each sign of life, which comes once a second.
        """
        response = self._request("GET", f"/v1/sessions/{session}/events?after={after}", seconds=EVENT_SILENCE_SECONDS)
        drained = False
        try:
            if response.status != 200:
                raise refusal(self.name, response.status, body_of(self.name, response))
            yield from self._parsed_events(response, on_sign_of_life)
            # To the end of the chunked body, so that the connection can be used again.
            response.drain_conn()
            drained = True
        except (HTTPError, OSError) as error:
            raise EngineUnreachable(Reason("engine_silent", engine=self.name, error=cause(error))) from error
        finally:
            # After a whole stream this gives the connection back; after a broken one nothing of it is reused.
            if not drained:
                response.close()
            response.release_conn()

    def _parsed_events(
        self, response: urllib3.BaseHTTPResponse, on_sign_of_life: Callable[[], None] | None
    ) -> Iterator[EngineEvent]:
        for line in lines_of(self.name, response):
            if on_sign_of_life is not None:
                on_sign_of_life()
            if not line.strip():
                continue
            event = EngineEvent.parsed(decoded(self.name, line))
            yield event
            if event.is_final:
                return
        raise EngineUnreachable(Reason("engine_without_result", engine=self.name))

    def _json(self, method: str, path: str, *, body: Any = None, seconds: float = ANSWER_SECONDS) -> Any:
        return document_of(self.name, *self._answer(method, path, body=body, seconds=seconds))

    def _answer(
        self, method: str, path: str, *, body: Any = None, seconds: float = ANSWER_SECONDS
    ) -> tuple[int, bytes]:
        response = self._request(method, path, body=body, seconds=seconds)
        try:
            return response.status, body_of(self.name, response)
        except (HTTPError, OSError) as error:
            raise EngineDown(Reason("engine_broke_off", engine=self.name, error=cause(error))) from error
        finally:
            response.release_conn()

    def _request(self, method: str, path: str, *, seconds: float, body: Any = None) -> urllib3.BaseHTTPResponse:
        channel = self._channels[-1]
        try:
            response = self._sent(method, path, channel, seconds=seconds, body=body)
        except EngineRefused as error:
            # Another certificate: nothing was sent to it.
            if error.code != "fingerprint" or not self._is_renewed(channel):
                raise
            return self._sent(method, path, self._channels[-1], seconds=seconds, body=body)
        if response.status == HTTPStatus.UNAUTHORIZED and self._is_renewed(channel):
            # Read to its end, so that the connection can be used again.
            response.drain_conn()
            response.release_conn()
            response = self._sent(method, path, self._channels[-1], seconds=seconds, body=body)
        return response

    def _is_renewed(self, refused: EngineChannel) -> bool:
        """Read what is stored again, and tell whether it is another trust than the one refused."""
        stored = self._read_trust() if self._read_trust is not None else None
        if stored is not None and stored.is_pinned and stored != self._channels[-1].trust:
            # What goes on under the former trust, in another thread, goes on.
            self._channels.append(refused.renewed(stored))
        return self._channels[-1].trust != refused.trust

    def _sent(
        self, method: str, path: str, channel: EngineChannel, *, seconds: float, body: Any
    ) -> urllib3.BaseHTTPResponse:
        try:
            return channel.pool.request(
                method,
                path,
                body=None if body is None else json.dumps(body),
                headers=channel.headers,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=seconds),
                preload_content=False,
                redirect=False,
            )
        except SSLError as error:
            raise self._tls_failure(error) from error
        except ValueError as error:
            raise unusable(self.name, error) from error
        except (MaxRetryError, NewConnectionError, Timeout, ProtocolError, HTTPError, OSError) as error:
            raise unreachable(self.name, error) from error

    def _tls_failure(self, error: SSLError) -> Exception:
        if "Fingerprints did not match" in str(error):
            return other_certificate(self.name)
        return EngineGarbage(Reason("engine_tls_failed", engine=self.name, error=cause(error)))
