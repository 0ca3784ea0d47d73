"""A server that speaks TLS like an engine and then misbehaves: what a real engine can't be made to do on demand."""

import json
import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path

from bench.fleet.certificate import write_certificate
from workers.engine_client.proof import token_proof

ABOUT = {
    "engine_version": "0.1.0",
    "protocol_version": 1,
    "catalog_version": 1,
    "boot_id": "b",
    "time": "2026-01-01T00:00:00Z",
    "data_port": 7411,
    "sessions": 0,
    "kinds": ["tcp_stream"],
}
Answer = Callable[[BaseHTTPRequestHandler], None]


def answer_json(document: object, status: int = 200) -> Answer:
    """Answer with JSON and a content length."""
    return answer_bytes(json.dumps(document).encode(), status)


def answer_bytes(data: bytes, status: int = 200) -> Answer:
    """Answer with these bytes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def answer_chunks(*chunks: bytes, end: bool = True, then_sleep_seconds: float = 0) -> Answer:
    """Answer with a chunked stream that may stop without an end."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for chunk in chunks:
            handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        if end:
            handler.wfile.write(b"0\r\n\r\n")
        else:
            time.sleep(then_sleep_seconds)
            handler.close_connection = True

    return answer


def drip(data: bytes, *, at_once: int = 0, seconds: float = 0.2) -> Answer:
    """Answer with these raw bytes: the first `at_once` together, then one at a time, over and over the last one."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(data[:at_once])
        try:
            for byte in chain(data[at_once:], repeat(data[-1])):
                handler.wfile.write(bytes([byte]))
                time.sleep(seconds)
        except OSError:
            # The client has given up.
            return

    return answer


def hang(seconds: float = 30) -> Answer:
    """Take the request and say nothing."""
    return lambda handler: time.sleep(seconds)


class BrokenEngine:
    """Serves on a free port of 127.0.0.1; `answers` maps "METHOD /path-prefix" to what happens.

    It proves to know `tokens`, and takes any.
    """

    tokens: tuple[str, ...] = ("t",)

    def __init__(self, folder: Path, answers: dict[str, Answer], name: str = "benchweb-engine") -> None:
        self.requests: list[str] = []
        # What came as bearer tokens, in their order, each once.
        self.bearers: list[str] = []
        # The body of the last request that came with one.
        self.body = b""
        self._answers = {
            "GET /v1/about": answer_json(ABOUT),
            "GET /v1/facts": answer_json({}),
            "POST /v1/proof": self._prove,
            **answers,
        }
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate = folder / "engine.pem"
        self.fingerprint = write_certificate(certificate, name)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer_all(self, answer: Answer) -> None:
        """Answer every request so from now on."""
        self._answers = {"": answer}

    def _prove(self, handler: BaseHTTPRequestHandler) -> None:
        nonce = json.loads(self.body)["nonce"]
        answer_json({"proofs": [token_proof(token, nonce, self.fingerprint) for token in self.tokens]})(handler)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                engine.body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or engine.body
                request = f"{self.command} {self.path}"
                engine.requests.append(request)
                bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
                if bearer and bearer not in engine.bearers:
                    engine.bearers.append(bearer)
                for prefix, answer in engine._answers.items():
                    if request.startswith(prefix):
                        answer(self)
                        return
                answer_json({})(self)

            do_GET = do_PUT = do_POST = do_DELETE = _any

            def log_message(self, *arguments: object) -> None:
                """Keep the tests' output quiet."""

        return Handler
