"""A scene of two real engines in network namespaces, the worker in a third: cables that can be cut, hosts that reboot.

Needs root. `control-a` and `control-b` join the worker's namespace with the engines', `data` joins the engines.
"""

import json
import os
import random
import secrets
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.faults.clocks import STEP_SECONDS, Clock
from bench.faults.harms import ENGINE_AWAY_SECONDS
from bench.faults.scene import Scene
from bench.invariants import broken_rules
from bench.truth.ground.topology import ENGINE, Namespace, address, cable, namespace

PORT = 7410
STEPS = [{"kind": "tcp_rr", "params": {"duration_seconds": 1}}]
_REBOOTABLE = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'


class RealEngine:
    """An engine in a namespace, with a boot id of its own."""

    def __init__(self, space: Namespace, folder: Path, control: str) -> None:
        folder.mkdir()
        self.space, self.folder, self.control = space, folder, control
        self.token = secrets.token_hex(32)
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text(self.token)
        self.clock = Clock(folder)
        self.boot_id_file = folder / "boot_id"
        self.boot()
        self.fingerprint = self.start()

    def boot(self) -> None:
        """Give the host a new boot id, which the next start of the engine sees."""
        self.boot_id_file.write_text(f"{uuid.uuid4()}\n")

    def start(self) -> str:
        """Start the engine; return its fingerprint when it listens."""
        serve = [str(ENGINE), "serve", "--listen", f"{self.control}:{PORT}", "--state-dir", str(self.folder / "state")]
        words = ["sh", "-c", _REBOOTABLE, str(self.boot_id_file), *serve, "--token-file", str(self.folder / "token")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.space.words(*words),
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **self.clock.environment},
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError((self.folder / "log").read_text())
        return str(json.loads(line)["fingerprint"])

    def kill(self) -> None:
        """Kill -9 the engine; its sessions' processes die with it."""
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.kill()
        self.process.wait()

    def signal(self, number: int) -> None:
        """Send a signal to the engine and the processes of its sessions."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (self.process.pid, *map(int, children)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def whole_results(self) -> set[str]:
        """Return the source sessions whose whole results still wait for their acknowledgement."""
        names = set()
        for path in (self.folder / "state" / "sessions").glob("*-source.ndjson"):
            try:
                last = json.loads(path.read_text().splitlines()[-1])
            except (OSError, ValueError, IndexError):
                continue
            if last.get("type") == "result":
                names.add(path.stem)
        return names


class SpacesScene(Scene):
    """Two pairs, one a direction, that must wait for each other."""

    repetitions = 3

    def start(self, part: str) -> None:
        prefix = self.controller.words() if part.startswith("worker") else ()
        self.rig.start(part, prefix=prefix)

    def broken(self) -> list[str]:
        """Ask the tables, and look for results that the engines keep and the dashboard never took."""
        stored = {
            name
            for (name,) in self.rig.rows(
                "select t.session || '-source' from runs_trial t join results_result s on s.trial_id = t.id"
            )
        }
        waiting = {name for engine in self.engines for name in engine.whole_results()}
        thrown_away = [f"thrown away: {name} waits on its engine, and has no result" for name in waiting - stored]
        return [*map(str, broken_rules(self.rig.database_url)), *thrown_away]

    def _fill(self) -> None:
        self.controller, first, second = (self.stack.enter_context(namespace(role)) for role in ("c", "a", "b"))
        self.spaces = (first, second)
        for number, space in enumerate(self.spaces, start=1):
            cable(self.controller, f"control-{number}", space, "control")
            address(self.controller, f"control-{number}", f"10.86.{number}.1")
            address(space, "control", f"10.86.{number}.2")
        cable(first, "data", second, "data")
        address(first, "data", "10.87.0.1")
        address(second, "data", "10.87.0.2")
        self.engines = [
            RealEngine(space, self.rig.folder / f"engine-{number}", f"10.86.{number}.2")
            for number, space in enumerate(self.spaces, start=1)
        ]
        for engine in self.engines:
            self.stack.callback(engine.kill)
        engines: list[dict[str, Any]] = [
            {
                "control": f"{engine.control}:{PORT}",
                "data": f"10.87.0.{number}",
                "fingerprint": engine.fingerprint,
                "token": engine.token,
            }
            for number, engine in enumerate(self.engines, start=1)
        ]
        self._make_rows(engines, [(0, 1), (1, 0)], STEPS)


def real(harm: Callable[[SpacesScene, random.Random], None]) -> Callable[[Scene, random.Random], None]:
    """Take a harm for this scene only."""

    def checked(scene: Scene, chance: random.Random) -> None:
        assert isinstance(scene, SpacesScene)
        harm(scene, chance)

    return checked


@real
def engine_killed(scene: SpacesScene, chance: random.Random) -> None:
    engine = chance.choice(scene.engines)
    engine.kill()
    time.sleep(chance.uniform(*ENGINE_AWAY_SECONDS))
    engine.start()


@real
def engine_stopped(scene: SpacesScene, chance: random.Random) -> None:
    """SIGSTOP, and SIGCONT after a while."""
    engine = chance.choice(scene.engines)
    engine.signal(signal.SIGSTOP)
    time.sleep(chance.uniform(*ENGINE_AWAY_SECONDS))
    engine.signal(signal.SIGCONT)


@real
def engine_rebooted(scene: SpacesScene, chance: random.Random) -> None:
    """Its host comes back with another boot id, its disk as it was."""
    engine = chance.choice(scene.engines)
    engine.kill()
    engine.boot()
    time.sleep(chance.uniform(*ENGINE_AWAY_SECONDS))
    engine.start()


@real
def engine_clock_stepped(scene: SpacesScene, chance: random.Random) -> None:
    """Step one engine's wall clock an hour forward, and the next time back."""
    engine = chance.choice(scene.engines)
    engine.clock.step(-STEP_SECONDS if engine.clock.offset_seconds else STEP_SECONDS)


@real
def worker_cut_from_engine(scene: SpacesScene, chance: random.Random) -> None:
    _cut(scene.controller, f"control-{chance.choice((1, 2))}", chance)


@real
def engine_cut_from_engine(scene: SpacesScene, chance: random.Random) -> None:
    _cut(chance.choice(scene.spaces), "data", chance)


def _cut(space: Namespace, device: str, chance: random.Random) -> None:
    """Cut a cable silently, in both directions, and mend it."""
    space.rules(
        f'table inet cut {{\nchain in {{ type filter hook input priority 0; iifname "{device}" drop; }}\n'
        f'chain out {{ type filter hook output priority 0; oifname "{device}" drop; }}\n}}\n'
    )
    time.sleep(chance.uniform(*ENGINE_AWAY_SECONDS))
    space.rules("")
