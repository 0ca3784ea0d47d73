"""Engines built for other machines, served and run through a prefix of words such as a chroot or an emulator."""

import contextlib
import json
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchweb.catalog import catalog
from benchweb.ops.setup import steps
from benchweb.ops.setup.testing import BUILT_ONCE

START_SECONDS = 120
RUN_SECONDS = 120
# Short enough that every kind is tried; kinds have what applies to them.
_SHORT = {
    "duration_seconds": "0.2",
    "count": "3",
    "probe_interval_seconds": "0.02",
    "probe": "tcp",
    "array_bytes": "4194304",
    "passes": "2",
    "file_size_bytes": "4194304",
    "method": "native",
}


@dataclass(frozen=True)
class Program:
    """A program behind a prefix; `folder` is what the program sees as `seen`."""

    prefix: Sequence[str]
    path: str
    folder: Path
    seen: str

    def command(self, *words: str) -> list[str]:
        """Return the words that run it."""
        return [*self.prefix, self.path, *words]


@contextlib.contextmanager
def served(program: Program) -> Iterator[str]:
    """Serve on free ports of loopback; yield the control address."""
    program.folder.mkdir(parents=True, exist_ok=True)
    (program.folder / "token").write_text("b" * 64)
    words = ["serve", "--listen", "127.0.0.1:0", "--data-port", "0"]
    words += ["--state-dir", f"{program.seen}/state", "--token-file", f"{program.seen}/token"]
    process = subprocess.Popen(program.command(*words), stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], START_SECONDS)[0], "the engine did not start"
        yield json.loads(process.stdout.readline())["control"]
    finally:
        process.terminate()
        process.wait(timeout=START_SECONDS)


def run(program: Program, kind: str, peer: str) -> dict[str, Any]:
    """Run one short test of a kind, against `peer` where it has a sink; return its result."""
    (program.folder / "token").write_text("b" * 64)
    settings = [f"--set={name}={_SHORT[name]}" for name in catalog().kinds[kind].parameters if name in _SHORT]
    if catalog().kinds[kind].is_of_one_host:
        ends = ["--disk-dir", f"{program.seen},any-filesystem"]
    else:
        ends = ["--peer", peer, "--token-file", f"{program.seen}/token"]
    words = ["run", kind, *ends, "--json", *settings]
    done = subprocess.run(program.command(*words), capture_output=True, check=False, timeout=RUN_SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def headline(result: dict[str, Any]) -> float:
    """Return the value that stands for a result."""
    value: float = result["metrics"][catalog().kinds[result["kind"]].headline]
    return value


def build(*words: str) -> None:
    """Run cargo in the engine's workspace."""
    environment = {**os.environ, **BUILT_ONCE, "NO_COLOR": "1"}
    done = subprocess.run([steps.cargo(), *words], cwd=steps.ENGINE, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()[-4000:]


def in_own_users(*words: str) -> list[str]:
    """Prefix words so that an ordinary user may change the root or mount: as root of namespaces of one's own."""
    return ["unshare", "--user", "--map-root-user", "--mount", *words]
