"""How long campaigns take beside the least they could: as planned, and played through by the rule of the queues.

Run it as `python3 -m bench.makespan` from the repository's root; with `--database` it also launches 39,800 runs in a
PostgreSQL of its own, and says what planning, writing, and foretelling a schedule take.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchweb.runs.placement.meshes import Job, arranged, lower_bound_seconds, makespan_seconds
from benchweb.runs.queueing.simulation import Queued, played
from tests.runs.meshes import LENGTHS, mesh, overlaps

ROUNDS = 5
EQUAL, UNEQUAL = 1.05, 1.15
SEEDS = range(1, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", action="store_true", help="also launch 39,800 runs")
    options = parser.parse_args()
    print("played: with lengths from so much of the planned ones to so much, beside the bound of those lengths\n")
    print("| campaign | runs | planned : bound | played 0.9 to 1 | played 0.9 to 1.1 | overlaps |")
    print("|---|---|---|---|---|---|")
    verdicts = [row(f"mesh of {hosts}, equal", [mesh(hosts)], EQUAL) for hosts in (4, 5, 10, 50, 200)]
    for name, length in LENGTHS.items():
        for hosts in (10, 11, 50):
            sets = [mesh(hosts, length, seed=seed) for seed in SEEDS]
            verdicts.append(row(f"mesh of {hosts}, {name}, worst of {len(sets)}", sets, UNEQUAL))
    verdicts.append(row("mesh of 200, uniform", [mesh(200, LENGTHS["uniform"])], UNEQUAL))
    planning_time(mesh(200), "equal")
    planning_time(mesh(200, LENGTHS["uniform"]), "unequal")
    if options.database:
        from bench.rig.rig import Rig

        with Rig() as rig:
            print(rig.run("-m", "bench.makespan.launching"))
    if not all(verdicts):
        raise SystemExit("A campaign takes longer than allowed.")


def row(name: str, sets: Sequence[list[Job]], allowed: float) -> bool:
    """Print the worst ratios of some sets; True if all that was planned is within what is allowed."""
    planned, shorter, either, conflicts = 0.0, 0.0, 0.0, 0
    for jobs in sets:
        placed = arranged(jobs)
        planned = max(planned, makespan_seconds(jobs, placed) / lower_bound_seconds(jobs))
        conflicts += len(overlaps(jobs, placed))
        shorter = max(shorter, played_ratio(jobs, 0.9, 1.0))
        either = max(either, played_ratio(jobs, 0.9, 1.1))
    print(f"| {name} | {len(sets[0]):,} | {planned:.3f} | {shorter:.3f} | {either:.3f} | {conflicts} |", flush=True)
    return planned <= allowed and conflicts == 0


def played_ratio(jobs: Sequence[Job], least: float, most: float) -> float:
    """Play a plan through with lengths other than planned; the makespan beside the bound of those lengths."""
    source = random.Random(1)
    job_of = {job.key: job for job in jobs}
    queue = [
        Queued(placed.key, job.resources, placed.start_seconds, job.seconds, job.seconds * source.uniform(least, most))
        for placed in arranged(jobs)
        for job in [job_of[placed.key]]
    ]
    real = [Job(run.key, run.resources, run.seconds) for run in queue]
    return max(run.until_seconds for run in played(queue)) / lower_bound_seconds(real)


def planning_time(jobs: Sequence[Job], name: str) -> None:
    """Print what planning takes; on a machine with other work the CPU time is what holds elsewhere."""
    print(f"\n{len(jobs):,} {name} runs (medians of {ROUNDS}):")
    for what, work in {"planned": arranged, "their bound found": lower_bound_seconds}.items():
        times = [timed(partial(work, jobs)) for _ in range(ROUNDS)]
        seconds, cpu = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"- {what} in {seconds:.2f} s, of which CPU {cpu:.2f} s")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds by the clock and those of the CPU."""
    begin, cpu_begin = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - cpu_begin


if __name__ == "__main__":
    main()
