"""An engine of a benchmark's own, and a controller's calls to it."""

import contextlib
import http.client
import json
import os
import secrets
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parents[2] / "engine" / "target" / "release" / "benchweb-engine"
TOKEN = "the-token-of-the-benchmark"
START_SECONDS = 10.0


class Serving:
    """A serving engine; its sessions are made in pairs, `ID-sink` and `ID-source`, both on it."""

    def __init__(self, folder: Path, options: list[str], prefix: list[str]) -> None:
        """`prefix` runs before the engine's command, such as `ip netns exec NAME`."""
        self.token_file = folder / "token"
        self.token_file.write_text(TOKEN + "\n")
        words = [*prefix, str(PROGRAM), "serve", "--state-dir", str(folder / "state")]
        words += ["--token-file", str(self.token_file), *options]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        announced = json.loads(self.process.stdout.readline())
        self.host, port = announced["control"].rsplit(":", 1)
        self.port = int(port)
        self.data_port: int = announced["data_port"]
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE

    def connect(self) -> http.client.HTTPSConnection:
        """Make a connection for calls."""
        return http.client.HTTPSConnection(self.host, self.port, context=self._tls, timeout=15)

    def call(
        self, method: str, path: str, body: Any = None, *, connection: http.client.HTTPSConnection | None = None
    ) -> tuple[int, Any]:
        """Make one call; the status and the JSON answer."""
        used = connection or self.connect()
        data = None if body is None else json.dumps(body)
        used.request(method, path, data, {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
        response = used.getresponse()
        content = response.read()
        if connection is None:
            used.close()
        return response.status, json.loads(content)

    def start_pair(self, name: str, kind: str, params: dict[str, Any]) -> None:
        """Start a sink and its source."""
        spec = {"role": "sink", "kind": kind, "params": params, "cookie": secrets.token_hex(32)}
        source = {**spec, "role": "source", "peer": {"address": self.host, "data_port": self.data_port}}
        for role, content in (("sink", spec), ("source", source)):
            status, answer = self.call("PUT", f"/v1/sessions/{name}-{role}", content)
            if status != 201:
                raise SystemExit(f"{name}-{role} was refused ({status}): {answer}")

    def state(self, session: str, *, connection: http.client.HTTPSConnection | None = None) -> str:
        """Return a session's state."""
        return str(self.call("GET", f"/v1/sessions/{session}", connection=connection)[1].get("state"))

    def events(self, session: str) -> list[dict[str, Any]]:
        """Read all events, to the final one."""
        connection = self.connect()
        connection.request("GET", f"/v1/sessions/{session}/events", headers={"Authorization": f"Bearer {TOKEN}"})
        lines = connection.getresponse().read().splitlines()
        connection.close()
        return [json.loads(line) for line in lines if line.strip()]

    def children(self) -> list[int]:
        """Return the process ids of its sessions."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        children: list[int] = []
        for task in tasks.iterdir():
            with contextlib.suppress(OSError):
                children += [int(pid) for pid in (task / "children").read_text().split()]
        return children


@contextlib.contextmanager
def serving(*options: str, prefix: tuple[str, ...] = (), listen: str = "127.0.0.1:0") -> Iterator[Serving]:
    """Serve for the time of the block; free ports unless options say otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        ports = [] if "--data-port" in options else ["--data-port", "0"]
        engine = Serving(Path(folder), ["--listen", listen, *ports, *options], list(prefix))
        try:
            yield engine
        finally:
            engine.process.terminate()
            engine.process.wait(timeout=START_SECONDS)


def is_alive(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def wait_until_gone(pids: list[int], seconds: float) -> bool:
    """Wait for processes to end."""
    end = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def renice(level: int) -> None:
    """Let this benchmark and what it starts yield to others."""
    os.nice(level)
