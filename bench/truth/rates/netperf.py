"""netperf 2.7 between the same two ends as the engine, its control beside the wire as the engine's is."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from bench.truth.ground.topology import SINK_ADDRESS, SINK_CONTROL, Failed, Link, process, wait_for_port

PORT = 12865
KEYS = "THROUGHPUT,ELAPSED_TIME,LOCAL_SEND_CALLS,REMOTE_RECV_CALLS"
LATEST_SECONDS = 60


@contextmanager
def serving(between: Link) -> Iterator[None]:
    """Run its server at the sink."""
    words = between.sink.words("netserver", "-D", "-p", str(PORT))
    with process(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        wait_for_port(between.sink, PORT)
        yield


def measure(between: Link, test: str, seconds: int, *options: str, times: int = 1) -> dict[str, float]:
    """Run one test, or as many at once; its figures by their keys, rates and counts of several added up."""
    words = between.source.words(
        "netperf", "-H", SINK_CONTROL, "-p", str(PORT), "-P", "0", "-l", str(seconds), "-t", test,
        "--", "-H", SINK_ADDRESS, *options, "-k", KEYS,
    )  # fmt: skip
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(times)]
    figures = [_read(process, seconds) for process in running]
    added = {key: sum(figure[key] for figure in figures) for key in figures[0]}
    return {**added, "ELAPSED_TIME": figures[0]["ELAPSED_TIME"]}


def _read(running: subprocess.Popen[str], seconds: int) -> dict[str, float]:
    output, _ = running.communicate(timeout=seconds + LATEST_SECONDS)
    if running.returncode != 0:
        raise Failed(f"netperf failed with {running.returncode}: {output}")
    lines = (line.partition("=") for line in output.splitlines())
    return {key: float(value) for key, _, value in lines if key in KEYS.split(",")}
