"""Packages are installed for the fastest interpreter at hand."""

import sys
from pathlib import Path

import pytest

from benchweb.ops.interpreters import fastest


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Give an interpreter that takes longer for everything."""
    return script(tmp_path / "slow", f'exec {sys.executable} -X tracemalloc=25 "$@"')


def script(path: Path, line: str) -> Path:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def test_a_clearly_faster_one_is_taken(slow: Path) -> None:
    assert fastest(str(slow), [Path(sys.executable)]) == sys.executable


def test_a_slower_one_is_not(slow: Path) -> None:
    assert fastest(sys.executable, [slow]) == sys.executable


def test_what_is_missing_or_does_not_work_is_passed_over(slow: Path, tmp_path: Path) -> None:
    broken = script(tmp_path / "broken", "exit 1")
    assert fastest(str(slow), [tmp_path / "missing", broken]) == str(slow)


def test_one_that_is_too_old_is_passed_over(slow: Path, tmp_path: Path) -> None:
    # It runs, and says what an older version would.
    old = script(tmp_path / "old", "echo inf")
    assert fastest(str(slow), [old]) == str(slow)
