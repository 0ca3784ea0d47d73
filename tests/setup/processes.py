"""A real `manage.py up` for the tests, and what it leaves behind."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchweb.ops.running.home import PROJECT

# Far more than any machine takes that is not stuck: a test's clock is there to end it, not to measure.
READY_SECONDS = 300
STOP_SECONDS = 30


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Up:
    """One `manage.py up` on a state folder."""

    home: Path
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> "Up":
        """Start it; the checkout is set up already, so that no tool is called."""
        self.home.parent.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWEB_")}
        environment |= {"BENCHWEB_HOME": str(self.home), "BENCHWEB_SET_UP": "1"}
        with (self.home.parent / f"{self.home.name}.output").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port), *self.options],
                cwd=PROJECT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def output(self) -> str:
        """Return what all starts on this state folder printed."""
        return (self.home.parent / f"{self.home.name}.output").read_text()

    def wait(self, seconds: float = READY_SECONDS) -> int:
        """Wait for its end; return its status."""
        assert self.process is not None
        return self.process.wait(seconds)

    def wait_ready(self) -> float:
        """Wait until /healthz answers 200; return the seconds it took."""
        return self.wait_until(lambda: self.status("/healthz") == 200, "/healthz answers 200")

    def wait_until(self, holds: Callable[[], object], what: str) -> float:
        """Wait until something holds while it runs; return the seconds it took."""
        started_at = time.monotonic()
        while not holds():
            assert self.process is not None and self.process.poll() is None, f"{what}: {self.output}"
            assert time.monotonic() - started_at < READY_SECONDS, f"{what}: {self.output}"
            time.sleep(0.05)
        return time.monotonic() - started_at

    def status(self, path: str) -> int:
        """Return the status of a GET, 0 when nothing answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        """Return the answer of the API to a GET with the demo's token."""
        token = (self.home / "demo-token").read_text().strip()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def terminate(self, number: int = signal.SIGTERM) -> float:
        """Stop it by a signal; return the seconds until it had ended."""
        assert self.process is not None
        started_at = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(STOP_SECONDS)
        return time.monotonic() - started_at

    def kill(self) -> None:
        """Kill -9 the supervisor alone."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def child(self, name: str) -> int:
        """Return the process number of a child by a word of its command line."""
        return self.children_named(name)[0]

    def children_named(self, name: str) -> list[int]:
        """Return the process numbers of the children that have a word in their command line, none while it is dead."""
        return [pid for pid in children(self.pid) if name in command_line(pid)]

    def orphans(self, patience_seconds: float = STOP_SECONDS) -> list[str]:
        """Return the processes of this state folder that are still there after a moment."""
        give_up_at = time.monotonic() + patience_seconds
        while (found := processes_of(self.home)) and time.monotonic() < give_up_at:
            time.sleep(0.05)
        return found


def children(pid: int) -> list[int]:
    """Return the process numbers of a process's children."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_line(pid: int | str) -> str:
    """Return a process's command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def processes_of(home: Path) -> list[str]:
    """Find every process that was started for a state folder, by its environment, folder or command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX" and f"BENCHWEB_HOME={home}".encode() in environment.split(b"\0"):
            found.append(f"{entry.name} {command_line(entry.name)}")
    return found
