"""Run the proofs: `python3 -m bench.truth [NAME…]` from the project's folder, as root, with ethtool and nftables.

Exit status 1 when any figure is further from the truth than allowed.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator

from bench.truth.delays import delay, round_trips
from bench.truth.ground import wakeups, wire
from bench.truth.ground.verdict import HEADER, Verdict
from bench.truth.losses import loss, order, small
from bench.truth.paths import endings, far, holes, marks, outages, thin
from bench.truth.rates import paced, payload, shaped, wan

PROOFS: dict[str, Callable[[], Iterator[Verdict]]] = {
    "flows": payload.flows,
    "shaped": shaped.prove,
    "loss": loss.prove,
    "order": order.prove,
    "small": small.prove,
    "delay": delay.prove,
    "endings": endings.prove,
    "marks": marks.prove,
    "late": far.late,
    "set_up": far.set_up,
    "round_trips": round_trips.prove,
    "thin": thin.prove,
    "black_hole": holes.black_hole,
    "nothing": holes.nothing,
    "rates": paced.prove,
    "outages": outages.prove,
    "wan": wan.prove,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.truth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("proofs", nargs="*", metavar="NAME", help=f"of {', '.join(PROOFS)}; all of them by default")
    names = parser.parse_args().proofs or list(PROOFS)
    if unknown := [name for name in names if name not in PROOFS]:
        parser.error(f"no such proof: {', '.join(unknown)}")
    # A terminated proof takes its namespaces with it, as an interrupted one does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wire.build()
    print(HEADER)
    verdicts = []
    with wakeups.quick():
        for name in names:
            for verdict in PROOFS[name]():
                verdicts.append(verdict)
                print(verdict.line(), flush=True)
    failed = sum(not verdict.holds for verdict in verdicts)
    print(f"{len(verdicts) - failed} of {len(verdicts)} figures hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
