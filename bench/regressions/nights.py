"""Judge simulated series night by night: false alarms a series-year, what is found within 15 nights, and how soon.

    .venv/bin/python -m bench.regressions.nights [--series 20] [--nights 160] [--seed 1] [--kinds gaussian …]

Each night the last window is judged anew, as after a run. An alarm is a change at an index where none was told before,
three nights more or less. With re-runs the series is judged as the product does it (bench.regressions.judged): a run
that stands out is measured again the same night, and opens an alert at once when that is bad too; a change that holds
opens one without; only what is worse is told. What begins at most two nights from a changed fact is explained by it.
Exits 1 when a promised figure is missed.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import Pool
from statistics import median
from typing import Any

from bench.regressions.judged import Alarm, JudgedSeries
from bench.regressions.series import KINDS, Nights, changed
from benchweb.statistics.changes import find_changes
from benchweb.statistics.deciding import LEAST_RUNS

STEPS = (-0.03, -0.06, -0.12)
DRIFT, DRIFT_NIGHTS = -0.10, 30
SAME, EXPLAINED = 3, 2
SOON = 15
YEAR = 365
MOST_FALSE = {"gaussian": 0.0, "spikes": 0.0, "autocorrelated": 0.5, "bimodal": 0.5, "sticky": 1.0}
MOST_FALSE_WITH_RERUNS = 0.3
LEAST_FOUND = {"gaussian": 1.0, "spikes": 1.0, "bimodal": 0.8}
# Of the step of −6 %.
LATEST = {"gaussian": 5, "spikes": 5}

# Of a pool of processes.
Mapped = Callable[[Callable[[str], Any], Iterable[str]], list[Any]]


def alarms(nights: Nights) -> Iterator[Alarm]:
    """Yield what the changes alone tell, night by night."""
    known: list[int] = []
    for night in range(LEAST_RUNS - 1, len(nights.values)):
        for change in find_changes(nights.values[: night + 1], only_last_window=True):
            if all(abs(change.index - index) > SAME for index in known):
                yield Alarm(night, change.index)
            known.append(change.index)


def false_alarms(kind: str, count: int, has_reruns: bool, seed: str) -> tuple[int, int]:
    """Return how many alarms an unchanged series raises that no fact explains, and how many in all."""
    nights = KINDS[kind](random.Random(f"{kind} {seed}"), count)
    raised = list(JudgedSeries().alarms(nights) if has_reruns else alarms(nights))
    near = [alarm for alarm in raised if any(abs(alarm.index - fact) <= EXPLAINED for fact in nights.facts)]
    return len(raised) - len(near), len(raised)


def delay(kind: str, count: int, change: tuple[float, int], has_reruns: bool, seed: str) -> int | None:
    """Return in which night after a change it is told, 1 being its first; None when within 30 it isn't.

    The change is a ratio, and over how many nights it comes.
    """
    ratio, over = change
    draw = random.Random(f"{kind} {ratio} {seed}")
    nights = KINDS[kind](draw, count)
    at = draw.randrange(count // 2, count - DRIFT_NIGHTS)
    nights = changed(nights, at, ratio, over)
    alarms = JudgedSeries().alarms(nights) if has_reruns else changes_since(nights, at)
    right = (alarm.night - at + 1 for alarm in alarms if at - SAME <= alarm.index <= at + max(SAME, over))
    first = next(right, None)
    return first if first is not None and first <= DRIFT_NIGHTS else None


def changes_since(nights: Nights, at: int) -> Iterator[Alarm]:
    """Yield the changes of each night from one on, those of before too."""
    for night in range(at, at + DRIFT_NIGHTS):
        for change in find_changes(nights.values[: night + 1], only_last_window=True):
            yield Alarm(night, change.index)


def main() -> None:
    """Print the table and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--nights", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="so many seeds from --seed on, each with its series")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    arguments = parser.parse_args()
    began = time.monotonic()
    seeds = [
        f"{seed} {number}"
        for seed in range(arguments.seed, arguments.seed + arguments.seeds)
        for number in range(arguments.series)
    ]
    print(
        "False alarms a series-year; share told within 15 nights (drift: 30), median and longest delay in nights; "
        "'again' is with re-runs\n"
    )
    heads = [*(f"{step:+.0%}" for step in STEPS), f"drift {DRIFT:+.0%}", *(f"{step:+.0%} again" for step in STEPS)]
    print(f"| noise | false | again | facts included | {' | '.join(heads)} |")
    print("|---" * (4 + len(heads)) + "|")
    missed: list[str] = []
    with Pool(arguments.processes) as pool:
        for kind in arguments.kinds:
            row, faults = judged_kind(kind, arguments.nights, seeds, pool.map)
            print(f"| {kind} | {' | '.join(row)} |", flush=True)
            missed += faults
    print(f"\n{time.monotonic() - began:.0f} s with {arguments.processes} processes")
    print("Missed: " + "; ".join(missed) if missed else "Every promised figure is kept.")
    sys.exit(bool(missed))


def judged_kind(kind: str, count: int, seeds: Sequence[str], mapped: Mapped) -> tuple[list[str], list[str]]:
    """Return the cells of a kind's row, and which promises are broken."""
    years = len(seeds) * count / YEAR
    plain, again = (mapped(partial(false_alarms, kind, count, has_reruns), seeds) for has_reruns in (False, True))
    rates = [sum(alarms_of_run[0] for alarms_of_run in runs) / years for runs in (plain, again)]
    cells = [f"{rate:.2f}" for rate in (*rates, sum(alarms_of_run[1] for alarms_of_run in plain) / years)]
    missed = false_missed(kind, *rates)
    steps = [(step, 1) for step in STEPS]
    for has_reruns, changes in ((False, [*steps, (DRIFT, DRIFT_NIGHTS)]), (True, steps)):
        for change in changes:
            delays = mapped(partial(delay, kind, count, change, has_reruns), seeds)
            cells.append(cell(delays, SOON if change[1] == 1 else DRIFT_NIGHTS))
            missed += missed_changes(kind, delays) if change[0] == -0.06 else []
    return cells, missed


def cell(delays: Sequence[int | None], most: int) -> str:
    """Return the share found, and the median and longest delay."""
    timely = [delay for delay in delays if delay is not None and delay <= most]
    return f"{len(timely) / len(delays):.0%}, {median(timely):g}, {max(timely)}" if timely else "0 %"


def false_missed(kind: str, rate: float, rate_with_reruns: float) -> list[str]:
    """Return which promised rate of false alarms is exceeded."""
    missed = []
    if rate > MOST_FALSE.get(kind, 1.0):
        missed.append(f"{kind}: {rate:.2f} false alarms, promised {MOST_FALSE[kind]}")
    if rate_with_reruns > MOST_FALSE_WITH_RERUNS:
        missed.append(f"{kind}: {rate_with_reruns:.2f} false alarms with re-runs, promised {MOST_FALSE_WITH_RERUNS}")
    return missed


def missed_changes(kind: str, delays: Sequence[int | None]) -> list[str]:
    """Return which promise of finding a step of −6 % is broken."""
    most = LATEST.get(kind, SOON)
    share = sum(delay is not None and delay <= most for delay in delays) / len(delays)
    least = LEAST_FOUND.get(kind, 0.0)
    return [f"{kind}: {share:.0%} of −6 % found within {most} nights, promised {least:.0%}"] if share < least else []


if __name__ == "__main__":
    main()
