"""A benchweb with engines and a small campaign, into which faults are thrown."""

import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError

from bench.fleet.running import RunningFleet
from bench.invariants import broken_rules
from bench.rig.engines_say import differences
from bench.rig.rig import API_TOKEN, Rig

STEPS = [{"kind": "udp_rr", "params": {"duration_seconds": 1}}]
SETTLE_SECONDS = 1.5
LAUNCH_SECONDS = 120.0
# Nothing that a round does may keep a run open for longer than this.
ROUND_LIMIT_SECONDS = 120.0
Harm = Callable[["Scene", random.Random], None]


@dataclass
class Round:
    """What became of one campaign with one fault in it."""

    states: dict[str, int]
    seconds: float
    broken: list[str] = field(default_factory=list)


class Scene(AbstractContextManager["Scene"]):
    """Simulated engines in a ring of pairs: each host has two runs, which must wait for each other."""

    engine_count = 6
    repetitions = 2
    parts: Sequence[str] = ("web", "worker", "beat")

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.rig = Rig()

    def __enter__(self) -> "Scene":
        self.stack.enter_context(self.rig)
        try:
            self._fill()
            for part in self.parts:
                self.start(part)
            self.rig.wait_healthy()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def start(self, part: str) -> None:
        """Start a part of benchweb as this scene has it."""
        self.rig.start(part)

    def restart(self, part: str) -> None:
        """Kill -9 a part and start it again, as its supervisor would."""
        self.rig.kill(part)
        self.start(part)

    def launch(self) -> int:
        """Launch the campaign through the web; again while the web isn't there."""
        give_up_at = time.monotonic() + LAUNCH_SECONDS
        while True:
            try:
                return int(self.rig.api.call("POST", "/campaigns", {"plan": self.plan, "pairs": self.pairs})["id"])
            except (URLError, ConnectionError, TimeoutError):
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.2)

    def round(self, harm: Harm, moment_seconds: float, chance: random.Random) -> Round:
        """Launch, harm at the moment, wait for the end, and look for what must not be."""
        started = time.monotonic()
        campaign = self.launch()
        time.sleep(max(0.0, moment_seconds - (time.monotonic() - started)))
        harm(self, chance)
        is_over = self.rig.wait_until_final(ROUND_LIMIT_SECONDS)
        seconds = time.monotonic() - started
        time.sleep(SETTLE_SECONDS)
        query = "select state, count(*) from runs_run where campaign_id = %s group by state order by state"
        result = Round(dict(self.rig.rows(query, [campaign])), seconds, self.broken())
        if sum(result.states.values()) != len(self.pairs):
            result.broken.append(f"lost: {len(self.pairs)} runs were launched, {result.states} are there")
        if not is_over:
            result.broken.append(f"stuck: not final after {ROUND_LIMIT_SECONDS:.0f} s")
        return result

    def broken(self) -> list[str]:
        """Ask the invariants of the tables, and the engines what they did."""
        return [*map(str, broken_rules(self.rig.database_url)), *differences(self.rig, self.fleet.report())]

    def _fill(self) -> None:
        self.fleet = RunningFleet(Path(self.rig.folder) / "fleet", self.engine_count)
        self.stack.callback(self.fleet.stop)
        token, fingerprint = self.fleet.token, self.fleet.fingerprint
        engines = [{"control": engine, "fingerprint": fingerprint, "token": token} for engine in self.fleet.engines]
        ring = [(number, (number + 1) % len(engines)) for number in range(len(engines))]
        self._make_rows(engines, ring, STEPS)

    def _make_rows(self, engines: list[dict[str, Any]], pairs: list[tuple[int, int]], steps: list[Any]) -> None:
        requested = {
            "engines": engines, "pairs": pairs, "steps": steps, "repetitions": self.repetitions, "api_token": API_TOKEN
        }  # fmt: skip
        rows = json.loads(self.rig.run("-m", "bench.rig.rows", text=json.dumps(requested)))
        self.pairs, self.plan = rows["pairs"], rows["plan"]
