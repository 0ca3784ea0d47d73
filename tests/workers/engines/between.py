"""Somebody between worker and engine: relays bytes, or takes TLS apart with a certificate of its own; records all."""

import select
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.fleet.certificate import write_certificate

_CHUNK_BYTES = 65536


@dataclass
class Recording:
    """What passed on one connection: as ciphertext where bytes were relayed, in clear where TLS was taken apart."""

    is_clear: bool
    sent: bytearray = field(default_factory=bytearray)
    answered: bytearray = field(default_factory=bytearray)


class Between:
    """Listens on a free port of 127.0.0.1 and passes everything on to an engine."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.recordings: list[Recording] = []
        self.takes_apart = False
        self._engine = engine
        certificate = folder / "between.pem"
        self.fingerprint = write_certificate(certificate, "benchweb-engine")
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._open: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening, and cut what is open."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._cut()

    def take_apart(self) -> None:
        """Show a certificate of its own from now on; connections of before are cut, so that all are made anew."""
        self.takes_apart = True
        self._cut()

    @property
    def sent_in_clear(self) -> bytes:
        """Return all that was sent to it on connections whose TLS ended here."""
        return b"".join(bytes(each.sent) for each in self.recordings if each.is_clear)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        recording = Recording(is_clear=self.takes_apart)
        self.recordings.append(recording)
        with suppress(OSError):
            engine = dialled(self._engine)
            if recording.is_clear:
                client, engine = self._context.wrap_socket(client, server_side=True), spoken(engine)
            self._open += [client, engine]
            with client, engine:
                _relay(client, engine, recording)

    def _cut(self) -> None:
        for each in self._open:
            _end(each)


def dialled(address: str) -> socket.socket:
    """Connect to HOST:PORT."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def spoken(connection: socket.socket) -> ssl.SSLSocket:
    """Speak TLS with whoever is there."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(connection)


def answer_to(connection: socket.socket, sent: bytes) -> bytes:
    """Send bytes and return what comes back until the other end closes."""
    answered = bytearray()
    with connection, suppress(OSError):
        connection.sendall(sent)
        while chunk := connection.recv(_CHUNK_BYTES):
            answered += chunk
    return bytes(answered)


def _relay(client: socket.socket, engine: socket.socket, recording: Recording) -> None:
    """Pass bytes on both ways until either end closes, and keep them: in one thread, for TLS's state knows no two."""
    ways = (client, engine, recording.sent), (engine, client, recording.answered)
    while True:
        select.select([client, engine], [], [])
        for source, sink, record in ways:
            while (chunk := _arrived(source)) is not None:
                if not chunk:
                    return
                record.extend(chunk)
                sink.sendall(chunk)


def _arrived(connection: socket.socket) -> bytes | None:
    """Return what has arrived, nothing at the end, or None where no data is there: TLS sends records without any."""
    connection.setblocking(False)
    try:
        return connection.recv(_CHUNK_BYTES)
    except (BlockingIOError, ssl.SSLWantReadError):
        return None
    finally:
        connection.setblocking(True)


def _end(connection: socket.socket) -> None:
    """End a connection both ways, whoever reads it: TLS's own `shutdown` frees what another thread may be in."""
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
