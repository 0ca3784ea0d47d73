"""Child processes of the whole-system tests: started, waited for, and surely ended."""

import ctypes
import json
import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forked import ForkServer

START_SECONDS = 120
_logs: dict[int, Any] = {}


@dataclass(frozen=True)
class Engine:
    """A running engine: where it listens, and what it takes to talk to it."""

    process: "subprocess.Popen[bytes]"
    control: str
    data_port: int
    fingerprint: str
    token: str
    folder: Path

    @classmethod
    def start(
        cls,
        binary: Path,
        folder: Path,
        *,
        listen: str = "127.0.0.1:0",
        data_port: int = 0,
        token: str = "",
        disk_dir: str = "",
    ) -> "Engine":
        """Start an engine, by default on free ports, and wait for the line that says which."""
        folder.mkdir(parents=True, exist_ok=True)
        token = token or secrets.token_hex(32)
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text(token)
        command = [str(binary), "serve", "--listen", listen, "--data-port", str(data_port)]
        command += ["--state-dir", str(folder / "state"), "--token-file", str(folder / "token")]
        command += ["--disk-dir", disk_dir] if disk_dir else []
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError((folder / "log").read_text())
        told = json.loads(line)
        return cls(process, told["control"], told["data_port"], told["fingerprint"], token, folder)


def started(command: list[str], environment: dict[str, str], *, ready: bytes) -> "subprocess.Popen[bytes]":
    """Start a process of its own group and wait until its output says that it is ready."""
    return begun(command, environment, ready=ready)()


def begun(command: list[str], environment: dict[str, str], *, ready: bytes) -> Callable[[], "subprocess.Popen[bytes]"]:
    """Start a process of its own group; the function waits until its output says that it is ready."""
    log = _new_log()
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # One foreign call and no lock: safe beside threads.
        preexec_fn=_die_with_the_tests,  # noqa: PLW1509
    )
    return _readiness(process, log, ready)


def begun_fork(server: ForkServer, arguments: list[str], *, ready: bytes) -> Callable[[], "subprocess.Popen[bytes]"]:
    """Start Celery with these arguments; the function waits until its output says that it is ready."""
    log = _new_log()
    return _readiness(server.forked(arguments, Path(log.name)), log, ready)


def _new_log() -> Any:
    """Make a file for what a process says; it is printed when that is stopped: pytest shows a failed test's."""
    return tempfile.NamedTemporaryFile(prefix="benchweb-test-", suffix=".log")


def _readiness(process: "subprocess.Popen[bytes]", log: Any, ready: bytes) -> Callable[[], "subprocess.Popen[bytes]"]:
    _logs[process.pid] = log
    give_up_at = time.monotonic() + START_SECONDS

    def wait() -> "subprocess.Popen[bytes]":
        while ready not in Path(log.name).read_bytes():
            if process.poll() is not None or time.monotonic() > give_up_at:
                stopped(process)
                raise RuntimeError(f"{process.args!r} did not get ready; what it said is printed.")
            time.sleep(0.05)
        return process

    return wait


def said_by(process: "subprocess.Popen[bytes]") -> str:
    """Return what a process has put out so far."""
    return Path(_logs[process.pid].name).read_text(errors="replace")


def _die_with_the_tests() -> None:
    """Ask the kernel to end the child when the tests are killed: prctl(PR_SET_PDEATHSIG, SIGKILL)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def stopped(process: "subprocess.Popen[bytes]", patience_seconds: float = 3) -> None:
    """End a process, politely first, then with its whole group."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            killed(process)
    if process.stdout is not None:
        process.stdout.close()
    if log := _logs.pop(process.pid, None):
        with log:
            said = Path(log.name).read_text(errors="replace")
        print(f"{process.args!r}, ended with {process.returncode}:\n{said}")


def killed(process: "subprocess.Popen[bytes]") -> None:
    """Kill -9 a process, and its group where it leads one."""
    leads = os.getpgid(process.pid) == process.pid
    (os.killpg if leads else os.kill)(process.pid, signal.SIGKILL)
    process.wait(5)
