"""The containers of docker-compose.yml as plain processes, with the commands and variables that the file gives them."""

import re
import secrets
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings

from benchweb.ops.running import processes, valkey
from tests.packaging import rules
from tests.packaging.dashboard.image import Image

# A machine that compiles beside the tests is slow.
READY_SECONDS = 240
CHECK_SECONDS = 240
SECRETS = {name: secrets.token_hex(32) for name in ("POSTGRES_PASSWORD", "VALKEY_PASSWORD", "BENCHWEB_SECRET_KEY")}
_VARIABLE = re.compile(r"\$\{(\w+)(?::[?-]([^}]*))?\}")


class Containers:
    """The services that an image is started for, beside a broker that the document's own command starts."""

    def __init__(self, image: Image, folder: Path) -> None:
        self.image = image
        self.services: rules.Document = rules.document()["services"]
        self.web_port, self.broker_port = free_port(), free_port()
        self._folder = folder
        self.database = f"packaging_{secrets.token_hex(4)}"
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start_servers(self) -> None:
        """Make an empty database, and start the broker by the document's command on a free port."""
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
            connection.execute(f'create database "{self.database}"')
        program = self._folder / "valkey-server"
        program.symlink_to(valkey.binary())
        words = [word.replace("$$", "$") for word in self.services["valkey"]["command"]]
        words[-1] = words[-1].replace("-server -", f"-server - --port {self.broker_port} --bind 127.0.0.1", 1)
        variables = {"PATH": f"{self._folder}:/usr/bin:/bin", **self.interpolated("valkey")}
        self._spawn("valkey", words, variables, self._folder)
        assert processes.wait_until(lambda: listens(self.broker_port), timeout_seconds=READY_SECONDS)

    def start(self, name: str) -> None:
        """Start a service of the image."""
        self._spawn(name, self.command(name), self.variables(name), self.image.folder)

    def run(self, name: str, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run a service's command, or another one in its container, to its end."""
        return self._run(list(words) or self.command(name), {**self.variables(name), **variables})

    def check(self, name: str) -> "subprocess.CompletedProcess[str]":
        """Run a service's health check."""
        words = self.services[name]["healthcheck"]["test"][1:]
        return self._run([*words, *([str(self.web_port)] if name == "web" else [])], self.variables(name))

    def is_healthy(self, name: str) -> bool:
        """Tell whether the health check succeeds."""
        return self.check(name).returncode == 0

    def stop(self, name: str) -> bool:
        """Ask a service to end as Docker does; true when it did, and wasn't killed."""
        process = self._running.pop(name)
        return processes.stop(process, signal_number=signal.SIGTERM, patience_seconds=10)

    def close(self) -> None:
        """End everything and drop the database."""
        for name in reversed(list(self._running)):
            self.stop(name)
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
            connection.execute(f'drop database "{self.database}" with (force)')

    def log(self, name: str) -> str:
        """Return what a service has printed."""
        return (self._folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def command(self, name: str) -> list[str]:
        """Return a service's command, with loopback and a free port where it serves pages."""
        words: list[str] = self.services[name].get("command") or self.image.stage.command()
        return [{"0.0.0.0": "127.0.0.1", "8000": str(self.web_port)}.get(word, word) for word in words]

    def interpolated(self, name: str) -> dict[str, str]:
        """Return a service's variables as Compose would with the test's secrets."""
        items: dict[str, Any] = self.services[name]["environment"]
        return {key: _VARIABLE.sub(lambda use: SECRETS.get(use[1], use[2]), str(value)) for key, value in items.items()}

    def variables(self, name: str) -> dict[str, str]:
        """Return a container's variables, with the servers where they are here."""
        variables = self.image.environment(self.interpolated(name))
        broker = variables["BENCHWEB_REDIS_URL"].replace("@valkey:6379", f"@127.0.0.1:{self.broker_port}")
        database = settings.DATABASE_URL.replace("@/benchweb", f"@/{self.database}", 1)
        return {**variables, "BENCHWEB_REDIS_URL": broker, "BENCHWEB_DATABASE_URL": database}

    def _spawn(self, name: str, words: list[str], variables: dict[str, str], folder: Path) -> None:
        with (self._folder / f"{name}.log").open("wb") as log:
            self._running[name] = processes.spawn(words, output=log, environment=variables, folder=folder)

    def _run(self, words: list[str], variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words,
            cwd=self.image.folder,
            env=variables,
            check=False,
            capture_output=True,
            text=True,
            timeout=CHECK_SECONDS,
        )


def free_port() -> int:
    """Find a free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Tell whether something listens on a port of loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
