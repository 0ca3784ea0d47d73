"""Benches start from a plain shell, where nothing has chosen Django's settings."""

import os
import subprocess
import sys

import pytest

from benchweb.ops.running.home import PROJECT


@pytest.mark.parametrize("command", ["cancel_campaign", "faults", "fleet", "makespan", "night", "pages", "truth"])
def test_a_bench_tells_its_options_in_a_plain_shell(command: str) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("BENCHWEB_", "DJANGO_"))}
    words = [sys.executable, "-m", f"bench.{command}", "--help"]
    done = subprocess.run(words, cwd=PROJECT, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
