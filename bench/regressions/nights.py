"""Judge simulated series night by night: false alarms a series-year, what is found within 15 nights, and how soon.

    .venv/bin/python -m bench.regressions.nights [--series 20] [--nights 160] [--seed 1] [--kinds gaussian …]

Each night the last window is judged anew, as after a run. An alarm is a change at an index where none was told before,
three nights more or less. With re-runs, a change is told only in a night whose second measurement lies on its side of
the middle between both levels. What begins at most two nights from a changed fact is explained by it. Exits 1 when a
promised figure is missed.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from statistics import median

from bench.regressions.series import KINDS, Nights, changed
from benchweb.statistics.changes import LEAST_RUNS, find_changes

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


@dataclass(frozen=True)
class Alarm:
    """A change that is told: in which night, and since when it is."""

    night: int
    index: int


def alarms(nights: Nights, has_reruns: bool) -> Iterator[Alarm]:
    """Return what is told, night by night."""
    told: list[int] = []
    for night in range(LEAST_RUNS - 1, len(nights.values)):
        for change in find_changes(nights.values[: night + 1], only_last_window=True):
            is_below = nights.reruns[night] < (change.before + change.after) / 2
            if has_reruns and is_below != (change.after < change.before):
                continue
            if all(abs(change.index - index) > SAME for index in told):
                yield Alarm(night, change.index)
            told.append(change.index)


def false_alarms(kind: str, count: int, has_reruns: bool, seed: str) -> tuple[int, int]:
    """Return how many alarms an unchanged series raises that no fact explains, and how many in all."""
    nights = KINDS[kind](random.Random(f"{kind} {seed}"), count)
    raised = list(alarms(nights, has_reruns))
    near = [alarm for alarm in raised if any(abs(alarm.index - fact) <= EXPLAINED for fact in nights.facts)]
    return len(raised) - len(near), len(raised)


def delay(kind: str, count: int, ratio: float, over: int, seed: str) -> int | None:
    """Return in which night after a change it is told, 1 being its first; None when within 30 it isn't."""
    draw = random.Random(f"{kind} {ratio} {seed}")
    nights = KINDS[kind](draw, count)
    at = draw.randrange(count // 2, count - DRIFT_NIGHTS)
    nights = changed(nights, at, ratio, over)
    for night in range(at, at + DRIFT_NIGHTS):
        found = find_changes(nights.values[: night + 1], only_last_window=True)
        if any(at - SAME <= change.index <= at + max(SAME, over) for change in found):
            return night - at + 1
    return None


def main() -> None:
    """Print the table and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--nights", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    arguments = parser.parse_args()
    began = time.monotonic()
    seeds = [f"{arguments.seed} {number}" for number in range(arguments.series)]
    steps = [f"{step:+.0%}" for step in STEPS]
    print("False alarms a series-year; share told within 15 nights (drift: 30), median and longest delay in nights\n")
    print(f"| noise | false | with re-runs | facts included | {' | '.join(steps)} | drift {DRIFT:+.0%} |")
    print("|---" * (5 + len(STEPS)) + "|")
    missed: list[str] = []
    with Pool(arguments.processes) as pool:
        for kind in arguments.kinds:
            years = arguments.series * arguments.nights / YEAR
            plain = pool.map(partial(false_alarms, kind, arguments.nights, False), seeds)
            again = pool.map(partial(false_alarms, kind, arguments.nights, True), seeds)
            rates = [sum(each[0] for each in runs) / years for runs in (plain, again)]
            cells = [f"{rate:.2f}" for rate in (*rates, sum(each[1] for each in plain) / years)]
            missed += false_missed(kind, *rates)
            for ratio, over in (*((step, 1) for step in STEPS), (DRIFT, DRIFT_NIGHTS)):
                delays = pool.map(partial(delay, kind, arguments.nights, ratio, over), seeds)
                cells.append(cell(delays, SOON if over == 1 else DRIFT_NIGHTS))
                missed += found_missed(kind, delays) if ratio == -0.06 else []
            print(f"| {kind} | {' | '.join(cells)} |", flush=True)
    print(f"\n{time.monotonic() - began:.0f} s with {arguments.processes} processes")
    print("Missed: " + "; ".join(missed) if missed else "Every promised figure is kept.")
    sys.exit(bool(missed))


def cell(delays: Sequence[int | None], most: int) -> str:
    """Return the share found, and the median and longest delay."""
    found = [each for each in delays if each is not None and each <= most]
    return f"{len(found) / len(delays):.0%}, {median(found):g}, {max(found)}" if found else "0 %"


def false_missed(kind: str, rate: float, rate_with_reruns: float) -> list[str]:
    """Return which promised rate of false alarms is exceeded."""
    missed = []
    if rate > MOST_FALSE.get(kind, 1.0):
        missed.append(f"{kind}: {rate:.2f} false alarms, promised {MOST_FALSE[kind]}")
    if rate_with_reruns > MOST_FALSE_WITH_RERUNS:
        missed.append(f"{kind}: {rate_with_reruns:.2f} false alarms with re-runs, promised {MOST_FALSE_WITH_RERUNS}")
    return missed


def found_missed(kind: str, delays: Sequence[int | None]) -> list[str]:
    """Return which promise of finding a step of −6 % is broken."""
    most = LATEST.get(kind, SOON)
    share = sum(each is not None and each <= most for each in delays) / len(delays)
    least = LEAST_FOUND.get(kind, 0.0)
    return [f"{kind}: {share:.0%} of −6 % found within {most} nights, promised {least:.0%}"] if share < least else []


if __name__ == "__main__":
    main()
