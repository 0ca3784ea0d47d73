"""A test of which nobody knows how it ends: what it gave, what it said, and how long it took."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from bench.truth.ground.topology import SINK_ADDRESS, Link
from bench.truth.ground.verdict import Verdict

LIMIT_SECONDS = 150.0


@dataclass(frozen=True)
class Attempt:
    """How a test ended; `result` is empty where it printed none."""

    code: int
    result: dict[str, Any]
    stderr: str
    seconds: float

    @property
    def flags(self) -> list[str]:
        """Return the flags of whatever it gave."""
        return list(self.result.get("flags", []))

    def metric(self, name: str) -> float:
        """Return a metric, or not-a-number where it is missing."""
        value = self.result.get("metrics", {}).get(name)
        return float("nan") if value is None else float(value)

    def rates(self, name: str) -> list[float]:
        """Return a figure of each interval that has it."""
        return [
            float(interval[name]) for interval in self.result.get("intervals", []) if interval.get(name) is not None
        ]


@dataclass
class Begun:
    """A test under way."""

    process: subprocess.Popen[str]
    began: float

    def ended(self) -> Attempt:
        """Wait for its end; one that takes far too long is ended and has code -1."""
        try:
            output, stderr = self.process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, stderr = self.process.communicate()
            return Attempt(-1, {}, f"not ended after {LIMIT_SECONDS:g} s {stderr}", LIMIT_SECONDS)
        result = json.loads(output) if output.strip() else {}
        return Attempt(self.process.returncode, result, stderr.strip(), time.monotonic() - self.began)


def begin(between: Link, kind: str, params: dict[str, Any]) -> Begun:
    """Begin a test and don't wait for it."""
    words = between.words(kind, params, SINK_ADDRESS)
    began = time.monotonic()
    return Begun(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), began)


def attempt(between: Link, kind: str, params: dict[str, Any]) -> Attempt:
    """Run a test to whatever end it has."""
    return begin(between, kind, params).ended()


def ended_well(title: str, tried: Attempt) -> Verdict:
    """Judge whether a test gave a result; what it said otherwise goes to standard error."""
    if tried.code != 0:
        print(f"{title}: {tried.stderr.splitlines()[-1] if tried.stderr else 'said nothing'}", file=sys.stderr)
    return Verdict(f"{title}: exit code", 0, tried.code, 0, "")


def holds(title: str, condition: bool) -> Verdict:
    """Judge something that is so or not."""
    return Verdict(title, 1, float(condition), 0, "")
