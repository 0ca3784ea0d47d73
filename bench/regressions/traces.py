"""Score the detection on hand-labelled latency traces.

    .venv/bin/python -m bench.regressions.traces FOLDER

FOLDER holds one gzipped JSON file per trace: `values` in ms (0 or less is a lost ping) and `annotations["1"]`, the
index of the first value of each new segment; from github.com/WenqinSHAO/rtt, `dataset/real_trace_labelled` (MIT).
Scored as its authors do: pooled over all traces, a find at most two values from a label counts, each label once. Exits
1 below F1 0.66 or precision 0.65.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path

from benchweb.statistics.changes import find_changes

TOLERANCE = 2
LEAST_F1, LEAST_PRECISION = 0.66, 0.65
# Measured before on the other 25 traces of the same set (539 labels) with other tools' rules, written anew.
OTHERS = (
    ("PELT normal, MBIC", 0.12, 0.80, 0.21),
    ("PELT Poisson, MBIC", 0.38, 0.76, 0.50),
    ("PELT nonparametric, MBIC", 0.42, 0.71, 0.53),
    ("Otava 0.8, defaults", 0.25, 0.48, 0.33),
    ("Perfherder, t > 7", 0.77, 0.31, 0.44),
)

Counts = tuple[int, int, int]


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--each", action="store_true", help="a line for each trace too")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.json.gz"))
    if not files:
        sys.exit(
            f"{arguments.folder} has no *.json.gz: see the head of bench/regressions/traces.py for where they are from."
        )
    began = time.monotonic()
    with Pool(arguments.processes) as pool:
        counts = pool.map(judged, files, chunksize=1)
    print("| method | traces | labels | finds | precision | recall | F1 |\n|---|---|---|---|---|---|---|")
    for file, own_counts in zip(files, counts, strict=True) if arguments.each else ():
        print_row(file.name.removesuffix(".json.gz"), "1", own_counts)
    pooled = (
        sum(own_counts[0] for own_counts in counts),
        sum(own_counts[1] for own_counts in counts),
        sum(own_counts[2] for own_counts in counts),
    )
    print_row("find_changes, defaults", str(len(files)), pooled)
    for name, precision, recall, f1 in OTHERS:
        print(f"| {name} | other 25 | 539 | | {precision:.2f} | {recall:.2f} | {f1:.2f} |")
    print(f"\n{time.monotonic() - began:.1f} s with {arguments.processes} processes")
    precision, _, f1 = scores(pooled)
    sys.exit(f1 < LEAST_F1 or precision < LEAST_PRECISION)


def judged(file: Path) -> Counts:
    """Return how many labels a trace has, how many changes are found, and how many of them hit a label."""
    trace = json.loads(gzip.decompress(file.read_bytes()))
    values = [value if value is not None and value > 0 else None for value in trace["values"]]
    changes = [change.index for change in find_changes(values)]
    labels = trace["annotations"]["1"]
    return len(labels), len(changes), hits(changes, labels)


def hits(changes: Sequence[int], labels: Sequence[int]) -> int:
    """Return how many finds have a label of their own at most TOLERANCE values away."""
    free = list(labels)
    count = 0
    for index in changes:
        near = next((label for label in free if abs(label - index) <= TOLERANCE), None)
        if near is not None:
            free.remove(near)
            count += 1
    return count


def scores(counts: Counts) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    labels, detected, hit = counts
    return hit / max(1, detected), hit / max(1, labels), 2 * hit / max(1, detected + labels)


def print_row(name: str, traces: str, counts: Counts) -> None:
    """Print one row of the table."""
    precision, recall, f1 = scores(counts)
    print(f"| {name} | {traces} | {counts[0]} | {counts[1]} | {precision:.3f} | {recall:.3f} | {f1:.3f} |")


if __name__ == "__main__":
    main()
