"""Judge 10,000 series after their last run, on one core.

    .venv/bin/python -m bench.regressions.speed [--series 10000] [--changed 0.05]

Series of 60 to 160 nights with the six kinds of noise, a share of them with a step of −6 % somewhere in the last 60.
Each is judged as the product judges it after a run, by the same functions, without the database: the changes for the
worse in its last window, and whether the run is a suspect. All of them are judged, none is scaled up.
Exits 1 above 15 s for 10,000.
"""

import argparse
import random
import sys
import time
from datetime import timedelta

from bench.regressions.judged import FIRST, history_of
from bench.regressions.series import KINDS, changed
from benchweb.regressions.judging import findings
from benchweb.regressions.judging.histories import History, RunValue

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
    for number, kind in enumerate(KINDS):
        count = arguments.series // len(KINDS) + (number < arguments.series % len(KINDS))
        series = [one(draw, kind, arguments.changed) for _ in range(count)]
        began = time.process_time()
        detected = 0
        for history in series:
            findings.worsened_findings([history], {})
            findings.suspect_finding(history, history.runs[-1].run_id, ())
            detected += bool(findings.changes_of(history))
        seconds = time.process_time() - began
        total += seconds
        print(f"| {kind} | {len(series)} | {detected} | {seconds / len(series) * 1e3:.2f} |")
    most = MOST_SECONDS * arguments.series / 10_000
    print(f"\n{arguments.series} series: {total:.1f} s of one core, promised {most:g} s")
    sys.exit(total > most)


def one(draw: random.Random, kind: str, share: float) -> History:
    """Return a series, with a step now and then."""
    count = draw.randint(60, 160)
    nights = KINDS[kind](draw, count)
    is_changed = draw.random() < share
    values = changed(nights, count - draw.randint(3, 57), -0.06).values if is_changed else nights.values
    return history_of(
        [RunValue(index + 1, FIRST + timedelta(days=index), value, 5) for index, value in enumerate(values)]
    )


if __name__ == "__main__":
    main()
