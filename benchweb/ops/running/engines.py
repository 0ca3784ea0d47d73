"""The demo's two engines on this machine: their ports stay the same over restarts; standard library only."""

import hashlib
import json
import os
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from benchweb.ops.running.child import Program
from benchweb.ops.running.home import PROJECT, Home
from benchweb.ops.running.processes import SetupError

NAMES = ("a", "b")
LOOPBACK = "127.0.0.1"
TOKEN_FILE = "engine-token"  # noqa: S105  (a file's name)
ANSWER_SECONDS = 1.0


@dataclass(frozen=True)
class Listening:
    """Where an engine answers, as it says itself."""

    control: str
    data_port: int
    fingerprint: str


def binary() -> Path:
    """Find the engine that this checkout built, or the one that BENCHWEB_ENGINE names."""
    default = PROJECT / "engine" / "target" / "release" / "benchweb-engine"
    path = Path(os.environ.get("BENCHWEB_ENGINE") or default)
    if not os.access(path, os.X_OK):
        raise SetupError(f"The engine {path} is missing: run 'python3 manage.py up' again to build it.")
    return path


def program(home: Home, name: str) -> Program:
    """Serve on the ports of the last time, or on free ones where they are taken."""
    state = state_folder(home, name)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.secret(TOKEN_FILE)

    def command() -> list[str | Path]:
        last = listening(home, name)
        control = last.control if last and _is_free(last.control) else f"{LOOPBACK}:0"
        data = last.data_port if last and _is_free(f"{LOOPBACK}:{last.data_port}", udp=True) else 0
        options: list[str | Path] = ["--state-dir", state, "--token-file", home.folder / TOKEN_FILE]
        return [binary(), "serve", "--listen", control, "--data-port", str(data), *options]

    return Program(name=f"engine-{name}", command=command, patience_seconds=0.7)


def listening(home: Home, name: str) -> Listening | None:
    """Read where the engine said that it listens, this time or the last."""
    try:
        values = json.loads((state_folder(home, name) / "listening.json").read_text(encoding="utf-8"))
        return Listening(values["control"], int(values["data_port"]), values["fingerprint"])
    except (OSError, ValueError, KeyError):
        return None


def answers(home: Home, name: str) -> bool:
    """Tell whether the engine itself answers on its control address, as its certificate proves."""
    last = listening(home, name)
    if last is None:
        return False
    try:
        with (
            socket.create_connection(_address(last.control), timeout=ANSWER_SECONDS) as connection,
            _certificates_unchecked().wrap_socket(connection) as proven,
        ):
            certificate = proven.getpeercert(binary_form=True) or b""
    except OSError:
        return False
    return last.fingerprint == f"sha256:{hashlib.sha256(certificate).hexdigest()}"


def _certificates_unchecked() -> ssl.SSLContext:
    """Return a context for a self-signed certificate that whoever asks knows by its fingerprint."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def state_folder(home: Home, name: str) -> Path:
    """Return the folder where the engine keeps its certificate and its unread results."""
    return home.folder / "engines" / name


def _is_free(address: str, *, udp: bool = False) -> bool:
    kinds = [socket.SOCK_STREAM, *([socket.SOCK_DGRAM] if udp else [])]
    try:
        for kind in kinds:
            with socket.socket(socket.AF_INET, kind) as probe:
                if kind == socket.SOCK_STREAM:
                    # Connections of the last run in TIME_WAIT don't occupy a port.
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(_address(address))
    except OSError:
        return False
    return True


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)
