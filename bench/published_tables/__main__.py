"""The tables of published reports, drawn by the dashboard from runs of this engine shaped like theirs.

`.venv/bin/python -m bench.published_tables [--out docs/images] [--seconds 1] [--port 8230]`: as root, with iproute2
and Chromium; about ten minutes. Three machines with three network modes each are
network namespaces of this one, joined by bridges; a dashboard of its own runs beside them, and all is gone afterwards.
The figures are this machine's; the shape is the reports': a sweep over message sizes, 3 × 3 modes in and across zones,
packet rates, loss and latency; and a report of each of the five templates, as WebP.
"""

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from bench.published_tables.scene import dashboard, scene
from bench.truth.ground.topology import PROJECT
from benchweb.ops.setup.bootstrap import set_up

CHILD_LIMIT_SECONDS = 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PROJECT / "docs/images")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each trial")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each pair of modes: what a sparkline shows")
    parser.add_argument("--port", type=int, default=8230)
    options = parser.parse_args()
    # The dashboard's own namespace reaches no registry.
    set_up(["frontend", "engine"])
    with ExitStack() as stack:
        built = stack.enter_context(scene())
        url, token = stack.enter_context(dashboard(built, options.port))
        requested = {
            "url": url,
            "token": token,
            "engine_token": built.token,
            "seconds": options.seconds,
            "rounds": options.rounds,
            "out": str(options.out.resolve()),
            "endpoints": [vars(endpoint) for endpoint in built.endpoints],
        }
        # The dashboard is reached from its own namespace only, so what talks to it runs there.
        words = built.lab.words(sys.executable, "-m", "bench.published_tables.measure")
        environment = {**os.environ, "PUBLISHED_TABLES": json.dumps(requested)}
        subprocess.run(words, env=environment, cwd=PROJECT, check=True, timeout=CHILD_LIMIT_SECONDS)


if __name__ == "__main__":
    main()
