"""Judge 10,000 series after their last run, on one core.

    .venv/bin/python -m bench.regressions.speed [--series 10000] [--changed 0.05]

Series of 60 to 160 nights with the six kinds of noise, a share of them with a step of −6 % somewhere in the last 60.
Each is judged as after a run: suspect or not, the changes in its last window, the smallest one that it can show.
Exits 1 above 15 s for 10,000.
"""

import argparse
import random
import sys
import time

from bench.regressions.series import KINDS, changed
from benchweb.statistics.changes import find_changes, is_suspect, smallest_detectable_change

MOST_SECONDS = 15.0


def main() -> None:
    """Print the seconds, in all and by kind of noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--changed", type=float, default=0.05)
    arguments = parser.parse_args()
    draw = random.Random(1)
    total = 0.0
    print("| noise | series | with changes | ms a series |\n|---|---|---|---|")
    for kind in KINDS:
        series = [one(draw, kind, arguments.changed) for _ in range(arguments.series // len(KINDS))]
        began = time.process_time()
        found = 0
        for values in series:
            is_suspect(values)
            found += bool(find_changes(values, only_last_window=True))
            smallest_detectable_change(values[-60:])
        seconds = time.process_time() - began
        total += seconds
        print(f"| {kind} | {len(series)} | {found} | {seconds / len(series) * 1e3:.2f} |")
    most = MOST_SECONDS * arguments.series / 10_000
    print(f"\n{arguments.series} series: {total:.1f} s of one core, promised {most:g} s")
    sys.exit(total > most)


def one(draw: random.Random, kind: str, share: float) -> list[float]:
    """Return a series, with a step now and then."""
    count = draw.randint(60, 160)
    nights = KINDS[kind](draw, count)
    is_changed = draw.random() < share
    return changed(nights, count - draw.randint(3, 57), -0.06).values if is_changed else nights.values


if __name__ == "__main__":
    main()
