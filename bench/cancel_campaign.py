"""How long the cancel of a campaign takes, from its POST until nothing runs: 200 runs on 400 simulated hosts.

    python3 -m bench.cancel_campaign [--runs 200] [--rounds 3]

Everything is real but the engines: PostgreSQL, Valkey, worker, beat and web as `up` starts them. Prints when the POST
was answered, when the last engine had stopped its sessions, and when the last run was final. The status is 1 when the
engines took longer than 2 s, or a run is anything but cancelled 5 s later (a late result must not change it).
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.fleet.running import RunningFleet
from bench.rig.rig import API_TOKEN, Rig

PROMISE_SECONDS = 2.0
LATE_SECONDS = 5.0
DURATION_SECONDS = 60
_STATES = "select state, count(*) from runs_run where campaign_id = {} group by state"


def states(rig: Rig, campaign: int) -> dict[str, int]:
    """Return how many runs of the campaign are in each state."""
    return {str(state): int(count) for state, count in rig.rows(_STATES.format(campaign))}


def sessions(fleet: RunningFleet) -> int:
    """Return how many sessions the engines have that aren't over."""
    return len(fleet.report()["open_sessions"])


def until(is_over: Callable[[], bool], limit_seconds: float, what: str) -> float:
    """Poll until it is over; return the seconds."""
    started = time.monotonic()
    while not is_over():
        if time.monotonic() - started > limit_seconds:
            raise SystemExit(f"{what} did not come within {limit_seconds:g} s")
        time.sleep(0.02)
    return time.monotonic() - started


def one_round(rig: Rig, fleet: RunningFleet, rows: dict[str, list[int]], runs: int) -> bool:
    """Launch, wait until all run, cancel; print; tell whether the promise was held."""
    requested = {"launch": {"plan": rows["plan"], "pairs": rows["pairs"]}}
    (campaign,) = json.loads(rig.run("-m", "bench.rig.rows", text=json.dumps(requested)))["campaigns"]
    until(lambda: sessions(fleet) == 2 * runs, 120, "the start of all runs")
    started = time.monotonic()
    rig.api.call("POST", f"/campaigns/{campaign}/cancel")
    answered = time.monotonic() - started
    until(lambda: sessions(fleet) == 0, 60, "the engines' end")
    stopped = time.monotonic() - started
    until(lambda: states(rig, campaign) == {"cancelled": runs}, 60, "the runs' end")
    final = time.monotonic() - started
    print(f"answered after {answered:.2f} s, engines idle after {stopped:.2f} s, all final after {final:.2f} s")
    time.sleep(LATE_SECONDS)
    return stopped <= PROMISE_SECONDS and states(rig, campaign) == {"cancelled": runs}


def main() -> int:
    """Measure all rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Rig() as rig:
        fleet = RunningFleet(Path(folder) / "fleet", 2 * arguments.runs)
        try:
            key = {"fingerprint": fleet.fingerprint, "token": fleet.token}
            engines = [{"control": engine, **key} for engine in fleet.engines]
            pairs = [(2 * number, 2 * number + 1) for number in range(arguments.runs)]
            steps = [{"kind": "tcp_rr", "params": {"duration_seconds": DURATION_SECONDS}}]
            made = {"engines": engines, "pairs": pairs, "steps": steps, "api_token": API_TOKEN}
            rows = json.loads(rig.run("-m", "bench.rig.rows", text=json.dumps(made)))
            for part in ("web", "worker", "beat"):
                rig.start(part)
            rig.wait_healthy()
            held = [one_round(rig, fleet, rows, arguments.runs) for _ in range(arguments.rounds)]
        finally:
            fleet.stop()
    print(f"{sum(held)} of {len(held)} rounds held the promise of {PROMISE_SECONDS:g} s")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
