"""How often the comparison of runs is wrong, where the truth is known: samples drawn from known distributions.

    .venv/bin/python -m bench.compare_truth [--pages N] [--seed S]

Prints, for repetitions of each count and shape of noise: how often runs that don't differ are called different (by a
measure alone, and by a page of 40 measures at all), how often the 95 % interval holds the true difference, how often a
true shift is found, and what a comparison costs. Behind a rate stands what it may be by 95 % confidence (Wilson 1927).
Exits 1 if a promised rate is broken, of a case or of all of them together.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from math import sqrt

from benchweb.statistics import Verdict, difference, verdicts
from benchweb.statistics.comparison import Difference
from benchweb.statistics.deciding import LARGEST_P_OF_DIFFERENCE

MEASURES = 40
COUNTS = (4, 5, 8, 10)
# Shifts in standard deviations of the noise; on all measures of a page, or on one of them.
SHIFTS = (1.0, 2.0, 3.0)
# A rate counts as broken only where chance doesn't explain it.
ERRORS = 4

Draw = Callable[[random.Random], float]
NOISE: dict[str, Draw] = {
    "normal": lambda draw: draw.gauss(100, 1),
    "skewed": lambda draw: 100 * draw.lognormvariate(0, 0.3),
    "3 % spikes": lambda draw: draw.gauss(100, 1) - (20 if draw.random() < 0.03 else 0),
    "two modes": lambda draw: draw.gauss(100 if draw.random() < 0.7 else 90, 1),
    "counts": lambda draw: float(max(0, round(draw.gauss(1, 1.5)))),
}


def main() -> None:
    """Print the tables and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    broken = [*false_alarms(draw, arguments.pages), *coverage(draw, arguments.pages * 10)]
    report_shifts(draw, arguments.pages)
    cost(draw)
    print("\nBroken: " + "; ".join(broken) if broken else "\nEvery promised rate is kept.")
    sys.exit(bool(broken))


def page(draw: random.Random, noise: Draw, count: int, shifts: Sequence[float]) -> list[Difference]:
    """Compare two runs whose measures differ by these shifts."""
    samples = [([noise(draw) for _ in range(count)], [noise(draw) + shift for _ in range(count)]) for shift in shifts]
    return [difference(*pair) for pair in samples]


def false_alarms(draw: random.Random, pages: int) -> list[str]:
    """Print how often equal runs are called different; return the rates that are above what is stated."""
    print(f"Equal runs called different; stated are at most {LARGEST_P_OF_DIFFERENCE:.0%} of either\n")
    print("| noise | n | of single measures | of pages with any |\n|---|---|---|---|")
    broken, single_in_all, loud_in_all = [], 0, 0
    for name, noise in NOISE.items():
        for count in COUNTS:
            differences = [page(draw, noise, count, [0.0] * MEASURES) for _ in range(pages)]
            single = sum(difference.is_significant for one in differences for difference in one)
            loud = sum(Verdict.DIFFERENT in verdicts(one) for one in differences)
            broken += judged(f"{name} | {count}", single, loud, pages)
            single_in_all, loud_in_all = single_in_all + single, loud_in_all + loud
    return broken + judged("all | all", single_in_all, loud_in_all, pages * len(NOISE) * len(COUNTS))


def judged(case: str, single: int, loud: int, pages: int) -> list[str]:
    """Print the rates of a case; return those that are above what is stated."""
    print(f"| {case} | {rate(single, pages * MEASURES)} | {rate(loud, pages)} |", flush=True)
    counted = (("measures", single, pages * MEASURES), ("pages", loud, pages))
    return [f"{case}: {rate(hits, trials)} of {what}" for what, hits, trials in counted if above(hits, trials)]


def rate(hits: int, trials: int) -> str:
    """Return a rate with Wilson's interval of 95 %."""
    share, z = hits / trials, 1.96
    middle = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    return f"{share:.2%} ({middle - half:.2%} to {middle + half:.2%})"


def above(hits: int, trials: int) -> bool:
    """Tell whether a rate is above what is stated, and not by chance."""
    return hits / trials > LARGEST_P_OF_DIFFERENCE + ERRORS * sqrt(
        LARGEST_P_OF_DIFFERENCE * (1 - LARGEST_P_OF_DIFFERENCE) / trials
    )


def coverage(draw: random.Random, cases: int) -> list[str]:
    """Print how often the interval holds the true difference of medians; nothing is promised below n = 5."""
    print("\nIntervals of 95 % that hold the true difference of medians\n")
    print("| noise | " + " | ".join(f"n={count}" for count in (3, *COUNTS)) + " |\n|---|" + "---|" * (len(COUNTS) + 1))
    broken = []
    for name, noise in NOISE.items():
        rates = {}
        for count in (3, *COUNTS):
            differences = page(draw, noise, count, [5.0] * cases)
            intervals = [difference.interval for difference in differences if difference.interval]
            assert len(intervals) == cases
            rates[count] = sum(low <= 5 <= high for low, high in intervals) / cases
        print(f"| {name} | " + " | ".join(f"{rate:.1%}" for rate in rates.values()) + " |")
        broken += [
            f"{name}, n={count}: intervals hold {rate:.1%}"
            for count, rate in rates.items()
            if count >= 5 and rate < 0.9
        ]
    return broken


def report_shifts(draw: random.Random, pages: int) -> None:
    """Print how often a true shift of the normal noise is found: in all measures of a page, and in one alone."""
    print("\nTrue shifts found, in standard deviations of normal noise\n")
    print("| n | shift | called different, all 40 shifted | one of 40 shifted | that one: at least perhaps |")
    print("|---|---|---|---|---|")
    for count in COUNTS:
        for shift in SHIFTS:
            every = [verdicts(page(draw, NOISE["normal"], count, [shift] * MEASURES)) for _ in range(pages // 4)]
            one = [verdicts(page(draw, NOISE["normal"], count, [shift, *[0.0] * (MEASURES - 1)])) for _ in range(pages)]
            of_all = sum(page_verdicts.count(Verdict.DIFFERENT) for page_verdicts in every) / (len(every) * MEASURES)
            of_one = sum(page_verdicts[0] == Verdict.DIFFERENT for page_verdicts in one) / pages
            perhaps = sum(page_verdicts[0] in (Verdict.DIFFERENT, Verdict.PERHAPS) for page_verdicts in one) / pages
            print(f"| {count} | {shift:g} | {of_all:.0%} | {of_one:.0%} | {perhaps:.0%} |")


def cost(draw: random.Random) -> None:
    """Print what a comparison costs the first time; after that it is remembered."""
    print("\nMicroseconds for one comparison that wasn't made before\n")
    print("| n | µs |\n|---|---|")
    for count in (3, *COUNTS):
        page(draw, NOISE["normal"], count, [0.0])
        start = time.perf_counter()
        page(draw, NOISE["normal"], count, [0.0] * 100)
        print(f"| {count} | {(time.perf_counter() - start) * 1e4:.0f} |")


if __name__ == "__main__":
    main()
