"""Real receivers on loopback: an HTTP server and a mail server, each in a thread."""

import base64
import hashlib
import hmac
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Got:
    """A request that a receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes

    def signed_with(self, secret: str) -> bool:
        """Check the signature as Standard Webhooks tells receivers to."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        content = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + self.body
        expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        return self.headers["webhook-signature"] == f"v1,{expected}"


@dataclass
class HttpReceiver:
    """Answers by `replies`, one each, and as `otherwise` once they are used up."""

    address: str = "127.0.0.1"
    port: int = 0
    replies: list[Reply] = field(default_factory=list)
    otherwise: Reply = field(default_factory=lambda: status(200, b"taken"))
    got: list[Got] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "HttpReceiver":
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.got.append(Got(self.path, headers, body))
                receiver.arrived.set()
                (receiver.replies.pop(0) if receiver.replies else receiver.otherwise)(self)

            do_GET = do_POST
            do_PUT = do_POST

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in self.address else socket.AF_INET

            def handle_error(self, *_: object) -> None:
                """Say nothing of clients that leave."""

        self._server = Server((self.address, self.port), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wrap(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}/hook"

    @property
    def ids(self) -> list[str]:
        return [each.headers["webhook-id"] for each in self.got]


def status(code: int, body: bytes = b"", **headers: str) -> Reply:
    """Answer with a status and a body."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def silence(until: threading.Event) -> Reply:
    """Answer nothing."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        until.wait(60)

    return reply


def dripping(until: threading.Event) -> Reply:
    """Answer a byte now and then, for ever."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not until.wait(0.1):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    return reply


def flood(handler: BaseHTTPRequestHandler) -> None:
    """Answer with more than anybody wants to read."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x" * 65_536)
    except OSError:
        return


def body_of(mail: EmailMessage, kind: str) -> str:
    """Return a mail's text of a kind: "plain" or "html"."""
    part = mail.get_body((kind,))
    assert part is not None
    return str(part.get_content())


class MailServer:
    """Takes mail, or refuses it by `refusals`, one each; keeps who logged in by which password.

    `refused` has the answers to a recipient, one each attempt: the last one is said for good.
    """

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refusals: list[str] = []
        self.refused: dict[str, list[str]] = {}
        # Of each mail that was taken, for whom.
        self.envelopes: list[list[str]] = []
        self.logins: list[tuple[str, str]] = []
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._controller = Controller(
            self, hostname="127.0.0.1", port=self.port, authenticator=self._log_in, auth_require_tls=False
        )

    async def handle_RCPT(
        self, server: object, session: object, envelope: Envelope, address: str, options: object
    ) -> str:
        answers = self.refused.get(address, ["250 fine"])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        assert isinstance(envelope.content, bytes)
        self.envelopes.append(list(envelope.rcpt_tos))
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 taken"

    def _log_in(self, *arguments: object) -> AuthResult:
        words = arguments[-1]
        assert isinstance(words, LoginPassword)
        self.logins.append((words.login.decode(), words.password.decode()))
        return AuthResult(success=True)

    def __enter__(self) -> "MailServer":
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()
