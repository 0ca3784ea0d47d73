"""The two ways to install benchweb, each in a folder of its own: `manage.py up`, and what docker-compose.yml starts."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import yaml

from bench.rig.api import Api
from bench.rig.rig import API_TOKEN, Rig
from bench.strangers.wire import Door
from benchweb.ops.running import processes
from benchweb.ops.running.home import PROJECT

READER, SECOND, SHARE_PASSWORD = "reader", "second", "of the link"  # pragma: allowlist secret
PASSWORD = "a long one of the bench"  # pragma: allowlist secret
OWN_ADDRESS, STRANGERS_ADDRESS = "198.51.100.7", "127.0.0.2"
STRANGERS_ADDRESSES = [f"203.0.113.{number}" for number in range(1, 25)]
DEMO_RUN_SECONDS, UP_SECONDS, STOP_SECONDS = 300.0, 900.0, 20.0
PAIRS, NIGHTS = 6, 20
_COMMAND = re.compile(r"^CMD (\[.*\])$", re.MULTILINE)
_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")
_MAKE = """
import json, sys, django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from benchweb.accounts import throttle
from benchweb.accounts.services import token_create
from benchweb.accounts.sessions import STRANGER_SECONDS
from benchweb.runs.selectors import runs_named
from benchweb.serving.bounds import BODIES_OF_ADDRESS
from benchweb.sharing.services import share_create
wanted = json.load(sys.stdin)
for name in wanted["users"]:
    user = User.objects.create_superuser(name, password=wanted["password"])
call_command("generate_history", pairs=wanted["pairs"], days=wanted["nights"], stdout=sys.stderr)
token_create(user=user, name="of the strangers' bench", secret=wanted["token"])
run = runs_named().filter(state="finished").order_by("-pk")[0]
_, share = share_create(run=run, user=user, password=wanted["share_password"])
limits = {"window_seconds": throttle.WINDOW_SECONDS, "begun_logins": throttle.BEGUN_LOGINS}
limits |= {"entries_of_one": throttle.ENTRIES_OF_ONE, "stranger_seconds": STRANGER_SECONDS}
limits |= {"bodies_of_address": BODIES_OF_ADDRESS}
print(json.dumps({"run": run.pk, "share": f"/s/{share}", "token": wanted["token"], "limits": limits}))
"""


@dataclass(frozen=True)
class Limits:
    """What the installation says of itself: the bounds of what strangers leave behind."""

    window_seconds: int
    # Of one address in a window.
    begun_logins: int
    entries_of_one: int
    stranger_seconds: int
    bodies_of_address: int


@dataclass(frozen=True)
class Made:
    """What those at work look at, and the path of the link that strangers try to open."""

    run: int
    share: str
    token: str
    limits: Limits


class Installation(ABC):
    """A running benchweb with data in it."""

    port: int
    scheme = "http"
    made: Made

    @abstractmethod
    def __enter__(self) -> "Installation":
        """Start, and fill it."""

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """Stop, and remove the folder."""

    @abstractmethod
    def run(self, *words: str, text: str = "") -> str:
        """Run Python as its commands do."""

    @abstractmethod
    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask its database."""

    @abstractmethod
    def logs(self) -> list[Path]:
        """Return the files that its processes write to."""

    @abstractmethod
    def own_door(self) -> Door:
        """Return the way in for those who are at work."""

    @abstractmethod
    def strangers(self) -> tuple[str | None, list[str]]:
        """Return the address that strangers connect from, and those that the proxy tells of."""

    @property
    @abstractmethod
    def root_pid(self) -> int:
        """Return the process that started the web process, or its parents."""

    def web_pid(self) -> int:
        """Return the process that answers."""
        for pid in _descendants(self.root_pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"benchweb.asgi:application" in words and b"benchweb.ops.running.watched" not in words:
                return pid
        raise RuntimeError("there is no web process")

    def _fill(self) -> None:
        wanted = {"users": [READER, SECOND], "password": PASSWORD, "share_password": SHARE_PASSWORD}
        wanted |= {"token": API_TOKEN}
        made = json.loads(self.run("-c", _MAKE, text=json.dumps(wanted | {"pairs": PAIRS, "nights": NIGHTS})))
        self.made = Made(**made | {"limits": Limits(**made["limits"])})


class ByUp(Installation):
    """`python3 manage.py up` with its demo, whose run has ended."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="bw-strangers-"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWEB_")}
        self._environment = ours | {"BENCHWEB_HOME": str(self._folder), "PYTHONPATH": str(PROJECT)}
        self._up: subprocess.Popen[bytes]

    def __enter__(self) -> "ByUp":
        with (self._folder / "up.log").open("wb") as log:
            words: list[str | Path] = [sys.executable, PROJECT / "manage.py", "up", "--port", str(self.port)]
            environment = self._environment | {"BENCHWEB_DEMO_TOKEN": "the-demo-of-the-bench"}
            death = signal.SIGTERM
            self._up = processes.spawn(words, output=log, environment=environment, folder=PROJECT, death_signal=death)
        api = Api(f"http://127.0.0.1:{self.port}", "the-demo-of-the-bench")
        self._wait(lambda: bool(_states(api)), UP_SECONDS)
        self._wait(lambda: _states(api) == {"finished"}, DEMO_RUN_SECONDS)
        self._fill()
        return self

    def __exit__(self, *error: object) -> None:
        processes.stop(self._up, signal_number=signal.SIGTERM, patience_seconds=STOP_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, *words: str, text: str = "") -> str:
        """Run Python as its commands do."""
        environment = self._environment | {"DJANGO_SETTINGS_MODULE": "benchweb.settings"}
        return _ran([sys.executable, *words], environment, text)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask its database."""
        runtime = json.loads((self._folder / "runtime.json").read_text())
        with psycopg.connect(runtime["database_url"]) as connection:
            return connection.execute(query.encode()).fetchall()

    def logs(self) -> list[Path]:
        """Return the files that its processes write to."""
        return [self._folder / "up.log", *(self._folder / "logs").iterdir()]

    def own_door(self) -> Door:
        """Return the way in for those who are at work."""
        return Door(self.port)

    def strangers(self) -> tuple[str | None, list[str]]:
        """Return the address that strangers connect from."""
        return STRANGERS_ADDRESS, []

    @property
    def root_pid(self) -> int:
        """Return the supervisor."""
        return self._up.pid

    def _wait(self, condition: Callable[[], bool], seconds: float) -> None:
        if not processes.wait_until(condition, timeout_seconds=seconds):
            raise RuntimeError(f"up wasn't ready:\n{(self._folder / 'up.log').read_text()[-4000:]}")


class ByCompose(Installation):
    """The command of docker/app.Dockerfile in the environment of docker-compose.yml, behind a proxy that ends TLS."""

    scheme = "https"

    def __init__(self) -> None:
        self._rig = Rig(compose_environment())
        self.port = self._rig.port

    def __enter__(self) -> "ByCompose":
        try:
            self._rig.__enter__()
            self._rig.run("-m", "django", "collectstatic", "--noinput", "--verbosity", "0")
            self._fill()
            self._rig.start("worker")
            self._rig.start("beat")
            with (self._rig.folder / "web.log").open("ab") as log:
                words = command(self.port)
                path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
                environment = {**self._rig.environment, "PATH": path}
                self._rig.running["web"] = processes.spawn(words, output=log, environment=environment, folder=PROJECT)
            self._rig.wait_healthy()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._rig.__exit__(*error)

    def run(self, *words: str, text: str = "") -> str:
        """Run Python as its commands do."""
        return self._rig.run(*words, text=text)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask its database."""
        return self._rig.rows(query)

    def logs(self) -> list[Path]:
        """Return the files that its processes write to."""
        return list(self._rig.folder.glob("*.log"))

    def own_door(self) -> Door:
        """Return the way in for those who are at work."""
        return Door(self.port, self.scheme, forwarded_for=OWN_ADDRESS)

    def strangers(self) -> tuple[str | None, list[str]]:
        """Return the addresses that the proxy tells of."""
        return None, STRANGERS_ADDRESSES

    @property
    def root_pid(self) -> int:
        """Return what the container would run."""
        return self._rig.running["web"].pid


def compose_environment() -> Mapping[str, str]:
    """Return what docker-compose.yml sets by default, but where the servers are; and that a proxy stands before it."""
    compose = yaml.safe_load((PROJECT / "docker-compose.yml").read_text(encoding="utf-8"))
    texts = {name: _DEFAULT.sub(r"\1", value) for name, value in compose["x-app"]["environment"].items()}
    plain = {name: value for name, value in texts.items() if "${" not in value}
    return {**plain, "BENCHWEB_BEHIND_TLS": "1", "BENCHWEB_TRUSTED_PROXIES": "127.0.0.1"}


def command(port: int) -> list[str]:
    """Return the image's command, on loopback and on another port."""
    found = _COMMAND.search((PROJECT / "docker" / "app.Dockerfile").read_text(encoding="utf-8"))
    if not found:
        raise RuntimeError("docker/app.Dockerfile has no CMD of one line")
    places = {"8000": str(port), "0.0.0.0": "127.0.0.1", "python": sys.executable}
    return [places.get(word, word) for word in json.loads(found[1])]


def _ran(words: list[str], environment: Mapping[str, str], text: str) -> str:
    finished = subprocess.run(
        words, env=environment, cwd=PROJECT, input=text, capture_output=True, text=True, check=False
    )
    if finished.returncode != 0:
        raise RuntimeError(f"{words[:3]} ended with {finished.returncode}:\n{finished.stderr}")
    return finished.stdout


def _states(api: Api) -> set[str]:
    """Return the states of the demo's own runs: the sample has others."""
    try:
        return {run["state"] for run in api.call("GET", "/runs?text=demo-a")["items"]}
    except (urllib.error.URLError, OSError):
        return set()


def _descendants(pid: int) -> list[int]:
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        pids += [below for child in task.read_text().split() for below in _descendants(int(child))]
    return pids
