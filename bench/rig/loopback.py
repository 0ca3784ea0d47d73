"""Real engines on loopback addresses of their own, a host each as the dashboard sees it."""

import json
import secrets
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.truth.ground.topology import ENGINE
from benchweb.ops.running import processes

PORT = 7410
_PATIENCE_SECONDS = 10.0


@contextmanager
def engines(folder: Path, count: int, environment: Mapping[str, str] | None = None) -> Iterator[list[dict[str, str]]]:
    """Run `count` engines while the block runs; return what the dashboard has to know of each."""
    folder.mkdir()
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    with ExitStack() as stack:
        yield [_engine(stack, folder, token, number, environment) for number in range(1, count + 1)]


def _engine(
    stack: ExitStack, folder: Path, token: Path, number: int, environment: Mapping[str, str] | None
) -> dict[str, str]:
    address = f"127.81.0.{number}"
    options: list[str | Path] = ["--state-dir", folder / str(number), "--token-file", token]
    words: list[str | Path] = [ENGINE, "serve", "--listen", f"{address}:{PORT}", *options]
    process = processes.spawn(words, output=subprocess.PIPE, environment=environment, folder=folder)
    stack.callback(processes.stop, process, signal_number=signal.SIGTERM, patience_seconds=_PATIENCE_SECONDS)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the engine on {address} ended with {process.wait()} before it listened")
    fingerprint = str(json.loads(line)["fingerprint"])
    return {"control": f"{address}:{PORT}", "fingerprint": fingerprint, "token": token.read_text()}
