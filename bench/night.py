"""A night of many short runs on simulated engines: does all of it end, and what does it cost.

    python3 -m bench.night                               300 runs on 60 hosts, a smoke test
    python3 -m bench.night --hosts 1000 --runs 10000     the night
    python3 -m bench.night --hosts 50 --mesh             every ordered pair of 50 hosts, one campaign
    python3 -m bench.night --hosts 4 --mesh --real       the same on real engines, on loopback addresses of their own

Without --real everything is real but the engines: PostgreSQL, Valkey, worker, beat and web as `up` starts them, in a
folder of their own. Prints final states, what a run took beyond its test time, how late runs began after their hosts
were free, memory, CPU, transactions and broker commands, the makespan beside its lower bound, and what
bench/invariants.sql found broken. The status is 1 when a run was lost, doubled or stuck, or two overlapped.
"""

import argparse
import itertools
import json
import signal
import sys
import time
from pathlib import Path

from bench.fleet.running import RunningFleet
from bench.invariants import broken_rules
from bench.rig import loopback
from bench.rig.engines_say import differences
from bench.rig.figures import Figures, figures
from bench.rig.load import Load
from bench.rig.rig import API_TOKEN, Rig

SETTLE_SECONDS = 3.0


def pairs_of(hosts: int, runs: int, *, is_mesh: bool) -> list[tuple[int, int]]:
    """Return every ordered pair, or as many as runs, each host with its next neighbours."""
    if is_mesh:
        return list(itertools.permutations(range(hosts), 2))
    pairs = ((number, (number + step) % hosts) for step in range(1, hosts) for number in range(hosts))
    return list(itertools.islice(pairs, runs))


def report(arguments: argparse.Namespace, figures: Figures, load: list[str], seconds: dict[str, float]) -> None:
    """Print all figures."""
    total = sum(figures.states.values())
    which = "real" if arguments.real else "simulated"
    print(f"\n{total} runs of {arguments.seconds:g} s on {arguments.hosts} {which} engines: {figures.states}")
    print(
        f"rows made in {seconds['rows']:.1f} s, launched in {seconds['launch']:.2f} s, done in {seconds['all']:.1f} s"
    )
    print(
        f"beyond its test time a run took {figures.overhead_mean * 1000:.0f} ms "
        f"(p50 {figures.overhead_p50 * 1000:.0f}, p99 {figures.overhead_p99 * 1000:.0f})"
    )
    print(
        f"began after its hosts were free: p50 {figures.late_p50 * 1000:.0f} ms, p99 {figures.late_p99 * 1000:.0f} ms"
    )
    print(f"makespan {figures.makespan:.1f} s : lower bound {figures.lower_bound:.1f} s = {figures.ratio:.3f}")
    print("\n".join(load))


def night(arguments: argparse.Namespace, rig: Rig, engines: list[dict[str, str]], pids: dict[str, int]) -> list[str]:
    """Launch, wait, print; return what is wrong."""
    seconds = {}
    started = time.monotonic()
    steps = [{"kind": arguments.kind, "params": {"duration_seconds": arguments.seconds}}]
    pairs = pairs_of(arguments.hosts, arguments.runs, is_mesh=arguments.mesh)
    requested = {"engines": engines, "pairs": pairs, "steps": steps, "api_token": API_TOKEN}
    rows = json.loads(rig.run("-m", "bench.rig.rows", text=json.dumps(requested)))
    seconds["rows"] = time.monotonic() - started
    for part in ("web", *(f"worker-{number}" for number in range(arguments.workers)), "beat"):
        rig.start(part)
    rig.wait_healthy()
    load = Load(rig, pids)
    load.begin()
    launch_started = time.monotonic()
    launch = {"launch": {"plan": rows["plan"], "pairs": rows["pairs"]}}
    seconds["launch"] = json.loads(rig.run("-m", "bench.rig.rows", text=json.dumps(launch)))["seconds"]

    def look(count: int) -> None:
        load.sample()
        if arguments.verbose:
            print(f"{time.monotonic() - launch_started:6.1f} s: {count} open", flush=True)

    is_over = rig.wait_until_final(arguments.limit, look)
    seconds["all"] = time.monotonic() - launch_started
    load_lines = load.lines()
    time.sleep(SETTLE_SECONDS)
    report(arguments, figures(rig, arguments.seconds), load_lines, seconds)
    faults = [] if is_over else [f"{rig.open_runs()} runs are not final after {arguments.limit:g} s"]
    return faults + [str(rule) for rule in broken_rules(rig.database_url)]


def simulated(arguments: argparse.Namespace, rig: Rig) -> list[str]:
    """Have the night on a simulated fleet, which tells afterwards what its engines really did."""
    fleet = RunningFleet(Path(rig.folder) / "fleet", arguments.hosts)
    engines = [{"control": engine, "fingerprint": fleet.fingerprint, "token": fleet.token} for engine in fleet.engines]
    try:
        faults = night(arguments, rig, engines, {"fleet": fleet.process.pid})
        return faults + differences(rig, fleet.report())
    finally:
        fleet.stop()


def real(arguments: argparse.Namespace, rig: Rig) -> list[str]:
    """Have the night on real engines, a process each."""
    with loopback.engines(Path(rig.folder) / "engines", arguments.hosts) as engines:
        return night(arguments, rig, engines, {})


def main() -> int:
    # So that a SIGTERM, too, ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=60)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--mesh", action="store_true", help="all ordered pairs of the hosts, whatever --runs says")
    parser.add_argument("--real", action="store_true", help="real engines; for a few hosts")
    parser.add_argument("--kind", default="udp_rr")
    parser.add_argument("--seconds", type=float, default=1.0, help="of one run's test")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds after which a night is given up")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    with Rig() as rig:
        faults = real(arguments, rig) if arguments.real else simulated(arguments, rig)
        if faults:
            print(rig.log("worker-0", 15))
    print("\n".join(faults[:20]) if faults else "No run lost, doubled or stuck, and none overlapped.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
