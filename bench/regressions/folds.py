"""Choose the prices of the detection on four of five folds of labelled traces, and score them on the fold left out.

    .venv/bin/python -m bench.regressions.folds FOLDER [FOLDER …]

Folders as bench.regressions.traces takes them; traces are dealt to the folds by chance, three times. Prints what the
folds left out give, pooled, of the first folder's traces and of all: what to expect of traces that nobody tuned on.
"""

import argparse
import gzip
import json
import random
from collections.abc import Sequence
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.regressions.traces import Counts, hits, scores
from benchweb.statistics.changes import find_changes

# Of a jump by L1-Potts and by ED-PELT, in ln n; standard errors; values by which both may differ.
GRID = tuple(product((2.5, 3.5, 5.0), (4.0, 5.5, 7.0), (5.5, 6.5), (3, 6)))
FOLDS, DEALS = 5, 3
_FIND, _JUDGE = "benchweb.statistics.changes.find", "benchweb.statistics.changes.judge"
Prices = tuple[float, float, float, int]


def main() -> None:
    """Print a row for each deal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    files = [file for folder in arguments.folders for file in sorted(folder.glob("*.json.gz"))]
    first = len(list(arguments.folders[0].glob("*.json.gz")))
    with Pool(arguments.processes) as pool:
        counts = dict(zip(GRID, pool.map(_Judged(files), GRID, chunksize=1), strict=True))
    print("| deal | traces | precision | recall | F1 |\n|---|---|---|---|---|")
    for deal in range(DEALS):
        left_out = left_out_counts(counts, len(files), deal)
        for name, chosen in (("first folder", left_out[:first]), ("all", left_out)):
            print(
                f"| {deal + 1} | {name}, {len(chosen)} | "
                + " | ".join(f"{score:.3f}" for score in pooled(chosen))
                + " |"
            )


def left_out_counts(counts: dict[Prices, list[Counts]], traces: int, deal: int) -> list[Counts]:
    """Return each trace's counts by the prices that are best on the folds without it."""
    order = random.Random(deal).sample(range(traces), traces)
    folds = [order[number::FOLDS] for number in range(FOLDS)]
    found: dict[int, Counts] = {}
    for left_out in folds:
        others = [trace for trace in range(traces) if trace not in left_out]
        best = max(counts, key=lambda prices: pooled([counts[prices][trace] for trace in others])[2])
        found |= {trace: counts[best][trace] for trace in left_out}
    return [found[trace] for trace in range(traces)]


def pooled(counts: Sequence[Counts]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of all traces together."""
    labels, finds, hit = (sum(column) for column in zip(*counts, strict=True))
    return scores((labels, finds, hit))


class _Judged:
    """Judges all traces by one choice of prices; several processes take it."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._traces = [json.loads(gzip.decompress(file.read_bytes())) for file in files]

    def __call__(self, prices: Prices) -> list[Counts]:
        potts, entropy, errors, agreement = prices
        with (
            patch.multiple(_FIND, _POTTS_PRICE=potts, _ENTROPY_PRICE=entropy, _AGREEMENT=agreement),
            patch.multiple(_JUDGE, LEAST_ERRORS_OF_CHANGE=errors),
        ):
            return [self._counts(trace) for trace in self._traces]

    @staticmethod
    def _counts(trace: dict[str, Any]) -> Counts:
        values = [value if value is not None and value > 0 else None for value in trace["values"]]
        changes = [change.index for change in find_changes(values)]
        labels = trace["annotations"]["1"]
        return len(labels), len(changes), hits(changes, labels)


if __name__ == "__main__":
    main()
