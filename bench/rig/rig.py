"""PostgreSQL, Valkey, web, worker and beat in a folder of their own, as `up` starts them."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import psycopg

from bench.rig.api import Api
from benchweb.ops.running import postgres, processes, programs, valkey
from benchweb.ops.running.child import Program
from benchweb.ops.running.home import PROJECT

# A machine that compiles meanwhile takes its time.
START_SECONDS = 120.0
API_TOKEN = "the-token-of-the-bench"


class Rig:
    """Parts go by name: postgres, valkey, web, worker, beat; a second one of a kind is `worker-2`."""

    def __init__(self, environment: Mapping[str, str] | None = None, *, keep_in: Path | None = None) -> None:
        """`kept` is a folder whose database is used again and left there."""
        self._is_kept = keep_in is not None
        self.folder = keep_in or Path(tempfile.mkdtemp(prefix="bw-rig-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.database_url = postgres.url(self.folder)
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWEB_")}
        self.environment = {
            **ours,
            **programs.PYTHON_ENVIRONMENT,
            "PYTHONPATH": str(PROJECT),
            "BENCHWEB_HOME": str(self.folder),
            "BENCHWEB_SECRET_KEY": secrets.token_hex(32),
            "BENCHWEB_DATABASE_URL": self.database_url,
            "BENCHWEB_REDIS_URL": valkey.url(self.folder),
            # The engines are on this machine.
            "BENCHWEB_ENGINE_NETWORKS": "127.0.0.0/8 ::1 0.0.0.0/0 ::/0",
            "DJANGO_SETTINGS_MODULE": "benchweb.settings",
            **(environment or {}),
        }
        self.api = Api(f"http://127.0.0.1:{self.port}", API_TOKEN)

    def __enter__(self) -> "Rig":
        (self.folder / "static").mkdir(exist_ok=True)
        postgres.create(self.folder / "postgres", sync=False)
        postgres.prepare_sockets(self.folder)
        self.start("valkey")
        self.start("postgres")
        self.run("-m", "django", "migrate", "--verbosity", "0")
        return self

    def __exit__(self, *error: object) -> None:
        for name in sorted(self.running, key=lambda name: name in ("postgres", "valkey")):
            self.stop(name)
        if not self._is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words: str, text: str = "") -> str:
        """Run Python with the rig's environment to its end; return what it printed."""
        finished = subprocess.run(
            [str(programs.management("", "").command()[0]), *words],
            env=self.environment, cwd=PROJECT, input=text, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if finished.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} ended with {finished.returncode}:\n{finished.stderr}")
        return finished.stdout

    def start(self, name: str, *, environment: Mapping[str, str] | None = None, prefix: Sequence[str] = ()) -> None:
        """Start a part and wait until it can be used (workers and beats: until their process is there).

        `prefix` runs before its command, such as `ip netns exec NAME`.
        """
        program = self._program(name.partition("-")[0])
        program.before()
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = processes.spawn(
                [*prefix, *program.command()],
                output=log,
                environment={**self.environment, **program.environment, **(environment or {})},
                folder=PROJECT,
                death_signal=program.death_signal,
                unprivileged=program.unprivileged,
            )
        pid = self.running[name].pid
        ready = {
            "postgres": lambda: postgres.is_ready(self.folder / "postgres", pid),
            "valkey": lambda: valkey.is_ready(self.folder),
            "web": lambda: self._health_status() > 0,
        }.get(name, lambda: True)
        if not processes.wait_until(ready, timeout_seconds=START_SECONDS):
            raise RuntimeError(f"{name} did not start:\n{self.log(name)}")

    def wait_healthy(self, seconds: float = START_SECONDS) -> None:
        """Wait until the web says that worker and beat are at work."""
        if not processes.wait_until(lambda: self._health_status() == 200, timeout_seconds=seconds):
            raise RuntimeError(f"not healthy after {seconds:.0f} s:\n{self.log('worker')}\n{self.log('beat')}")

    def stop(self, name: str) -> None:
        """End a part as `up` does."""
        program = self._program(name.partition("-")[0])
        process = self.running.pop(name)
        processes.stop(process, signal_number=program.stop_signal, patience_seconds=10)

    def kill(self, name: str) -> None:
        """Kill -9 a part, its children with it."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def log(self, name: str, lines: int = 40) -> str:
        """Return the end of a part's log."""
        path = self.folder / f"{name}.log"
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""

    def rows(self, query: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Ask the database."""
        with psycopg.connect(self.database_url) as connection:
            return connection.execute(query.encode(), parameters).fetchall()

    def open_runs(self) -> int:
        """Count the runs that are not final."""
        return int(self.rows("select count(*) from runs_run where state in ('pending', 'running')")[0][0])

    def wait_until_final(self, seconds: float, look: Callable[[int], None] = lambda count: None) -> bool:
        """Wait until no run is open; False when the time is over. `look` is called about once a second."""
        give_up_at = time.monotonic() + seconds
        while (count := self.open_runs()) > 0:
            if time.monotonic() > give_up_at:
                return False
            look(count)
            time.sleep(0.5)
        return True

    def _program(self, kind: str) -> Program:
        data = self.folder / "postgres"
        if kind == "postgres":
            return Program(
                name=kind,
                command=lambda: postgres.command(data, self.folder),
                before=lambda: postgres.clear_stale(data, self.folder),
                stop_signal=signal.SIGINT,
                death_signal=signal.SIGQUIT,
                unprivileged=True,
            )
        if kind == "valkey":
            return Program(name=kind, command=lambda: valkey.command(self.folder), before=self._remove_valkey_socket)
        return {"web": lambda: programs.web(self.port), "worker": programs.worker, "beat": programs.beat}[kind]()

    def _remove_valkey_socket(self) -> None:
        (self.folder / valkey.SOCKET_NAME).unlink(missing_ok=True)

    def _health_status(self) -> int:
        """Return the status of /healthz, 0 when nothing answers; its pages' script is not built here."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code
        except OSError:
            return 0
