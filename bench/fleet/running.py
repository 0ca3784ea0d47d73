"""A fleet in a process of its own, as benches and tests drive it."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.fleet.__main__ import SOCKET_NAME
from benchweb.ops.running import processes
from benchweb.ops.running.home import PROJECT

PATIENCE_SECONDS = 30


class RunningFleet:
    """`engines` are control addresses; every command is answered before it returns."""

    def __init__(self, folder: Path, count: int, network: str = "127.80.0.0/16") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._socket = folder / SOCKET_NAME
        words = [sys.executable, "-m", "bench.fleet", "--engines", str(count)]
        words += ["--folder", str(folder), "--network", network]
        self.process = processes.spawn(words, output=subprocess.PIPE, folder=PROJECT)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the fleet ended with {self.process.wait()} before it listened")
        settings = json.loads(line)
        self.engines: list[str] = settings["engines"]
        self.fingerprint: str = settings["fingerprint"]
        self.token: str = settings["token"]

    def suffer(self, number: int, fault: str) -> None:
        """Inject a fault into an engine; "none" ends it."""
        self._command({"fault": fault, "engine": number})

    def cut(self, first: int, second: int, *, is_cut: bool) -> None:
        """Cut the test traffic's path between two engines, or mend it."""
        self._command({"cut": [first, second], "is_cut": is_cut})

    def slow(self, number: int, share: float) -> None:
        """Let an engine's trials have a share of the usual figure."""
        self._command({"slow": number, "share": share})

    def report(self) -> dict[str, Any]:
        """Return what the engines really did."""
        return self._command({"report": True})

    def stop(self) -> None:
        """End all engines."""
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _command(self, command: dict[str, Any]) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            connection.connect(str(self._socket))
            connection.sendall(json.dumps(command).encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer: dict[str, Any] = json.loads(answers.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer
