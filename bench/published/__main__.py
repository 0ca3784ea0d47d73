"""The tests of three published reports, by the tool that made them and by the engine, side by side.

`python3 -m bench.published [--seconds 2] [--only ping] [--markdown FILE]`: as root, with netperf, iperf3, sysstat, wrk,
nginx and ping. Two network namespaces of this machine take the place of the reports' two hosts; windows are
`--seconds` instead of the reports' own.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from bench.published.reports import Test, tests
from bench.published.tools import output, peers
from bench.truth.ground.topology import ENGINE, SINK_ADDRESS, SINK_CONTROL, Link


def engine_output(between: Link, test: Test, seconds: int) -> str:
    """Run the engine's command as a person would; its summary."""
    words = test.engine.replace("COUNT", str(seconds * 10))
    duration = "" if words.startswith("ping") else f" --set duration_seconds={seconds}"
    peer = f"--peer {SINK_CONTROL} --data-address {SINK_ADDRESS} --token-file {between.token}"
    line = f"{ENGINE} run {words}{duration} {peer}"
    return output(between.source, line).strip()


def block(test: Test, tool: str, engine: str) -> str:
    """Write one test as Markdown."""
    command = re.sub(r"COUNT", "3000", test.engine)
    return (
        f"#### {test.title}\n`{test.tool}` →\n`benchweb-engine run {command}`\n```\n{tool}\n```\n```\n{engine}\n```\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--only", default="", help="part of a test's title")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    written, report = [], ""
    with peers() as between:
        for test in tests():
            if options.only.lower() not in test.title.lower():
                continue
            if test.report != report:
                report = test.report
                written.append(f"### {report}\n")
            text = block(test, test.run(between, options.seconds), engine_output(between, test, options.seconds))
            print(text, flush=True)
            written.append(text)
    if options.markdown:
        options.markdown.write_text("\n".join(written))


if __name__ == "__main__":
    main()
