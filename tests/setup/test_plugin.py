"""What each test process has of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOLD = "import os, tests.plugin as p; print(p.OWN_BROKER, os.environ['BENCHWEB_REDIS_URL'])"


def told(**environment: str) -> tuple[str, str]:
    command = [sys.executable, "-c", TOLD]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=300
    )
    is_own, url = done.stdout.split()
    return is_own, url


def test_a_further_process_has_a_broker_of_its_own_and_a_broker_that_was_given_is_shared() -> None:
    """Else the worker of one test takes the ticks and the runs of another."""
    given = {"BENCHWEB_REDIS_URL": "unix:///run/given.sock"}
    assert told(**given, BENCHWEB_TEST_BROKER="") == ("False", given["BENCHWEB_REDIS_URL"])
    first = told(BENCHWEB_REDIS_URL="", BENCHWEB_TEST_BROKER="")
    second = told(BENCHWEB_REDIS_URL=first[1], BENCHWEB_TEST_BROKER="1")
    assert (first[0], second[0]) == ("True", "True")
    assert first[1] != second[1]


@pytest.mark.begun_first
def test_what_is_marked_so_is_begun_before_all_others(request: pytest.FixtureRequest) -> None:
    are_marked = [item.get_closest_marker("begun_first") is not None for item in request.session.items]
    assert are_marked == sorted(are_marked, reverse=True)
    assert len(are_marked) > sum(are_marked) > 0
