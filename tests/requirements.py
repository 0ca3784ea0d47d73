"""Tests that need a program of the machine: `@pytest.mark.needs("Chromium")`, or `require` in a fixture.

Where it is missing the test is told as not run, with the command that would make it run; where CI is set it fails.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from benchweb.ops.setup import requirements
from benchweb.ops.setup.testing import NOT_RUN_FILE

COULD_NOT_RUN = "could not run"


def require(*names: str) -> None:
    """Go on only where the machine has all of these, named as in benchweb/ops/setup/requirements.py."""
    for name in names:
        if _is_met(name):
            continue
        problem = f"{COULD_NOT_RUN}: needs {name}: {requirements.by_name(name).command}"
        if "CI" in os.environ:
            pytest.fail(problem, pytrace=False)
        pytest.skip(problem)


def write_not_run(skipped: list[pytest.TestReport]) -> None:
    """Hand what could not run to the test command, a line per test."""
    path = os.environ.get(NOT_RUN_FILE)
    lines = [_line(report) for report in skipped if COULD_NOT_RUN in str(report.longrepr)]
    if path and lines:
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(lines)


@cache
def _is_met(name: str) -> bool:
    return requirements.by_name(name).is_met()


def _line(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return f"{report.nodeid}: {reason.partition(f'{COULD_NOT_RUN}: ')[2]}\n"
