"""Throw faults at a running benchweb, at random moments, and ask whether anything was lost, doubled or stuck.

    python3 -m bench.faults --state faults.json [--rounds 20] [--only worker_killed ...] [--seed 1]

Each round launches a small campaign, does one harm at a random moment, waits until every run is final, and asks
bench/invariants.sql and the engines' own records. The state file keeps every round: started again, it goes on with what
is missing. Prints the table of docs/explanation/faults.md. The real engines' faults need root (network namespaces),
the clock's a C compiler. The status is 1 when a round found something broken.
"""

import argparse
import json
import random
import signal
import statistics
import sys
import traceback
from pathlib import Path
from typing import Any

from bench.faults import clocks, harms, spaces
from bench.faults.clocks import ClockScene
from bench.faults.scene import Harm, Scene
from bench.faults.spaces import SpacesScene

# What is done, in which scene, and how long a campaign takes there without a fault.
FAULTS: dict[str, tuple[str, type[Scene], Harm]] = {
    "worker_killed": ("kill -9 of the worker", Scene, harms.worker_killed),
    "beat_killed": ("kill -9 of the beat", Scene, harms.beat_killed),
    "web_killed": ("kill -9 of the web while it launches", Scene, harms.web_killed),
    "valkey_killed": ("Valkey killed, its data wiped", Scene, harms.valkey_killed_and_wiped),
    "postgres_restarted": (
        "PostgreSQL restarted (half of them: all its processes crash)",
        Scene,
        harms.postgres_restarted,
    ),
    "two_beats": ("two beats at once", Scene, harms.two_beats),
    "two_workers": ("two workers given the same runs, ten times each", Scene, harms.same_run_to_two_workers),
    "clock_stepped": ("clock of web, worker and beat stepped by an hour", ClockScene, clocks.clock_stepped),
    "sim_engine_refuses": ("an engine refuses (simulated)", Scene, harms.engine_refuses),
    "sim_engine_rebooted": ("an engine reboots (simulated)", Scene, harms.engine_rebooted),
    "sim_engine_cut_from_worker": ("worker cut from an engine (simulated)", Scene, harms.worker_cut_from_engine),
    "engine_killed": ("kill -9 of an engine", SpacesScene, spaces.engine_killed),
    "engine_stopped": ("an engine hangs (SIGSTOP)", SpacesScene, spaces.engine_stopped),
    "engine_rebooted": ("an engine's host reboots (a new boot id)", SpacesScene, spaces.engine_rebooted),
    "engine_clock_stepped": ("an engine's clock stepped by an hour", SpacesScene, spaces.engine_clock_stepped),
    "worker_cut": ("network cut between worker and engine", SpacesScene, spaces.worker_cut_from_engine),
    "engines_cut": ("network cut between engines", SpacesScene, spaces.engine_cut_from_engine),
}
LONGEST_MOMENT_SECONDS = 5.0


class State:
    """The rounds done so far, kept on disk after each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rounds: dict[str, list[dict[str, Any]]] = json.loads(path.read_text()) if path.exists() else {}

    def add(self, fault: str, result: dict[str, Any]) -> None:
        """Keep a round."""
        self.rounds.setdefault(fault, []).append(result)
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(self.rounds, indent=1))
        draft.replace(self._path)


def rounds(fault: str, state: State, wanted: int, seed: int) -> None:
    """Do what is missing of a fault's rounds; a scene that broke is made anew for the next round."""
    while (done := len(state.rounds.get(fault, []))) < wanted:
        _, scene_of, harm = FAULTS[fault]
        with scene_of() as scene:
            for number in range(done, wanted):
                chance = random.Random(f"{seed} {fault} {number}")
                moment_seconds = chance.uniform(0, LONGEST_MOMENT_SECONDS)
                result = scene.round(harm, moment_seconds, chance)
                entry = {"moment": round(moment_seconds, 3), "states": result.states, "broken": result.broken}
                state.add(fault, {**entry, "seconds": round(result.seconds, 2)})
                print(
                    f"{fault} {number + 1}: at {moment_seconds:.2f} s, {result.seconds:.1f} s, {result.states}",
                    flush=True,
                )
                if result.broken:
                    print("\n".join(f"    {text}" for text in result.broken[:10]), flush=True)
                    print(scene.rig.log("worker", 8), flush=True)
                    break


def table(state: State) -> str:
    """Return the rounds as Markdown."""
    lines = [
        "| fault | rounds | runs by final state | seconds to the end, median and most | broken |",
        "|---|---|---|---|---|",
    ]
    for fault, done in state.rounds.items():
        states: dict[str, int] = {}
        for round_result in done:
            for name, count in round_result["states"].items():
                states[name] = states.get(name, 0) + count
        seconds = [round_result["seconds"] for round_result in done]
        counts = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
        broken = sum(bool(round_result["broken"]) for round_result in done)
        took = f"{statistics.median(seconds):.1f}, {max(seconds):.1f}"
        lines.append(f"| {FAULTS[fault][0]} | {len(done)} | {counts} | {took} | {broken or 'none'} |")
    return "\n".join(lines)


def main() -> int:
    # So that a SIGTERM, too, ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="*", choices=FAULTS, default=list(FAULTS), metavar="FAULT")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    state = State(arguments.state)
    unusable = []
    for fault in arguments.only:
        try:
            rounds(fault, state, arguments.rounds, arguments.seed)
        except Exception:
            traceback.print_exc()
            unusable.append(fault)
    print(table(state))
    if unusable:
        print(f"could not be done: {', '.join(unusable)}")
    return (
        1 if unusable or any(round_result["broken"] for done in state.rounds.values() for round_result in done) else 0
    )


if __name__ == "__main__":
    sys.exit(main())
