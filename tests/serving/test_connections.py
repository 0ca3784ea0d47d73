"""Silent, slow and endless connections give way to those who speak: a real uvicorn with few descriptors."""

import asyncio
import contextlib
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.config import Config
from uvicorn.server import ServerState

from benchweb.serving.connections import HEAD_BYTES, HEAD_SECONDS, PIPELINED_REQUESTS, BoundedProtocol
from tests.conftest import ROOT
from tests.serving.loops import run

# An application of its own, so that nothing but connections is tried: it reads the body and says how long it was.
SERVED = """
import resource, sys, uvicorn
from benchweb.serving import connections
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), int(sys.argv[3])))
connections.HEAD_SECONDS = float(sys.argv[4])
print(connections.allow_connections(), flush=True)

async def application(scope, receive, send):
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(str(size)))]})
    await send({"type": "http.response.body", "body": str(size).encode()})

uvicorn.run(application, port=int(sys.argv[1]), http=connections.BoundedProtocol, lifespan="off", log_level="warning")
"""


class Server:
    """A server with so many descriptors, and the number of connections that it takes."""

    def __init__(self, soft: int, hard: int, head_seconds: float) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = [str(word) for word in (self.port, soft, hard, head_seconds)]
        self.process = subprocess.Popen([sys.executable, "-c", SERVED, *words], stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout is not None
        self.most = int(self.process.stdout.readline())
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert self.process.poll() is None

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def answer(self, body: bytes = b"") -> tuple[int, bytes]:
        client = HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(client):
            client.request("POST", "/", body)
            response = client.getresponse()
            return response.status, response.read()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    soft, hard, head_seconds = request.param
    started = Server(soft, hard, head_seconds)
    yield started
    started.end()


@contextlib.contextmanager
def silent(server: Server, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Keep connections open that say no more than this."""
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(server.connected()) for _ in range(count)]
        for each in sockets:
            with contextlib.suppress(OSError):
                each.sendall(said)
        yield sockets


def is_closed(client: socket.socket) -> bool:
    """Tell whether the server ended a connection, without an answer."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("server", [(512, 1024, 600.0)], indirect=True)
@pytest.mark.parametrize("said", [b"", b"POST / HTTP/1.1\r\nHost: a\r\nX-Slow: "], ids=["silent", "slow head"])
def test_more_silent_connections_than_descriptors_keep_nobody_out(server: Server, said: bytes) -> None:
    assert server.most == 1024 - 256
    with silent(server, 1100, said) as sockets:
        assert server.answer(b"x" * 100_000) == (200, b"100000")
        # Those that waited longest were closed; the newest may still speak.
        assert is_closed(sockets[0])
        if not said:
            sockets[-1].sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert sockets[-1].recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("server", [(1024, 1024, 600.0)], indirect=True)
def test_a_connection_under_way_is_never_closed_for_a_silent_one(server: Server) -> None:
    with server.connected() as busy:
        busy.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        with silent(server, 1100):
            busy.sendall(b"cd")
            assert busy.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("server", [(1024, 1024, 600.0)], indirect=True)
def test_bodies_that_do_not_come_keep_nobody_out(server: Server) -> None:
    with silent(server, server.most, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"):
        for _ in range(3):
            assert server.answer(b"x" * 100_000) == (200, b"100000")


@pytest.mark.parametrize("server", [(1024, 1024, 0.3)], indirect=True)
def test_a_head_has_a_deadline_on_every_request_of_a_connection(server: Server) -> None:
    with silent(server, 3) as sockets:
        assert all(is_closed(each) for each in sockets)
    with server.connected() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        # The second one begins, and goes on for ever, a byte at a time.
        client.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        began = time.monotonic()
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            while time.monotonic() < began + 10:
                client.sendall(b"y")
                client.settimeout(0.02)
                with contextlib.suppress(TimeoutError):
                    if client.recv(1) == b"":
                        break
        assert time.monotonic() < began + 10
    # A slow body is no slow head.
    with server.connected() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
        threading.Timer(0.6, lambda: client.sendall(b"b")).start()
        assert client.recv(1000).startswith(b"HTTP/1.1 200")


CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
ENDLESS = {
    "a header": (b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: ", b"y" * HEAD_BYTES),
    "trailers": (CHUNKED + b"0\r\n", b"a: b\r\n" * (HEAD_BYTES // 6)),
    "a trailer": (CHUNKED + b"0\r\nX-Long: ", b"y" * HEAD_BYTES),
    "an extension of a chunk": (CHUNKED + b"1;", b"y" * HEAD_BYTES),
}


@pytest.mark.parametrize("server", [(1024, 1024, 600.0)], indirect=True)
@pytest.mark.parametrize("begin, more", ENDLESS.values(), ids=ENDLESS)
def test_what_is_no_body_and_never_ends_is_cut_off(server: Server, begin: bytes, more: bytes) -> None:
    with server.connected() as client, contextlib.suppress(ConnectionResetError, BrokenPipeError):
        client.sendall(begin)
        for _ in range(200):
            client.sendall(more)
        raise AssertionError("twelve megabytes were taken")
    assert server.answer() == (200, b"0")


@pytest.mark.parametrize("server", [(1024, 1024, 600.0)], indirect=True)
def test_a_body_in_many_small_chunks_is_taken(server: Server) -> None:
    with server.connected() as client:
        client.sendall(CHUNKED + b"1\r\na\r\n" * 100_000 + b"0\r\nX-End: yes\r\n\r\n")
        answer = b""
        while not answer.endswith(b"100001"):
            part = client.recv(1000)
            assert part, answer
            answer += part


@pytest.mark.parametrize("server", [(1024, 1024, 600.0)], indirect=True)
def test_a_crowd_of_requests_at_once_is_cut_off_and_a_few_are_answered(server: Server) -> None:
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    with server.connected() as client:
        client.sendall(request * PIPELINED_REQUESTS)
        answers = b""
        while answers.count(b"HTTP/1.1 200") < PIPELINED_REQUESTS:
            part = client.recv(10_000)
            assert part, answers
            answers += part
    with server.connected() as client:
        client.sendall(request * 1_000)
        with contextlib.suppress(ConnectionResetError):
            answers = b"".join(iter(lambda: client.recv(10_000), b""))
            assert answers.count(b"HTTP/1.1 200") <= 1


async def _no_application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Answer nothing: no request comes."""


class Aborted(asyncio.Transport):
    """Notes that it is to end, which it does later than the connections that come at the same moment."""

    is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True

    def close(self) -> None:
        """Do nothing, for there is nothing to close."""


def test_each_of_many_that_come_at_once_has_another_closed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "_most", 10)
    config = Config(_no_application)
    config.load()

    async def connected() -> list[bool]:
        protocols = [BoundedProtocol(config=config, server_state=ServerState(), app_state={}) for _ in range(40)]
        transports = [Aborted() for _ in protocols]
        for protocol, transport in zip(protocols, transports, strict=True):
            protocol.connection_made(transport)
        aborted = [transport.is_aborted for transport in transports]
        for protocol in protocols:
            protocol.connection_lost(None)
        return aborted

    assert run(connected()) == [True] * 30 + [False] * 10
    assert (BoundedProtocol._open, BoundedProtocol._silent, BoundedProtocol._sending) == (0, {}, {})


def test_the_limit_of_descriptors_is_raised_to_what_connections_need() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    server = Server(min(1024, hard), hard, HEAD_SECONDS)
    server.end()
    assert server.most == min(4096, max(hard - 256, hard // 2)) if hard > 0 else 4096
