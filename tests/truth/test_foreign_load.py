"""Other programs' CPU use is told, and flagged; the test's own is not."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench.truth.ground.topology import link

pytestmark = pytest.mark.needs("Rust", "network namespaces")

BUSY_LOOP = "while True: pass"


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", BUSY_LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_two_busy_loops_beside_a_test_are_flagged_with_how_much_they_used() -> None:
    with link() as between, busy_loops(2):
        result = between.measure("udp_stream", {"duration_seconds": 2, "rate_bps": 10_000_000})
    assert "background_cpu" in result["flags"]
    used = result["hosts"]["sink"]["other_cpus"]
    assert 0.9 * min(2, os.cpu_count() or 1) <= used <= (os.cpu_count() or 1)
