"""Expected, found, allowed, verdict: one line a figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """One figure of the engine's beside the truth; `allowed` is a share of the truth, or 0 for exactly."""

    name: str
    expected: float
    measured: float
    allowed: float
    unit: str
    is_absolute: bool = False

    @property
    def difference(self) -> float:
        difference = self.measured - self.expected
        if self.is_absolute or self.allowed == 0:
            return difference
        return difference / self.expected if self.expected else float("inf")

    @property
    def holds(self) -> bool:
        return abs(self.difference) <= self.allowed

    def line(self) -> str:
        if self.is_absolute:
            allowed, difference = f"{self.allowed:g}", f"{self.difference:+.1f}"
        elif self.allowed == 0:
            allowed, difference = "exactly", f"{self.difference:+.0f}"
        else:
            allowed, difference = f"{self.allowed:.1%}", f"{self.difference:+.3%}"
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return (
            f"{self.name:<58}{self.expected:>16,.1f}{self.measured:>16,.1f} {self.unit:<7}"
            f"{difference:>10} of {allowed:<8} {verdict}"
        )


HEADER = f"{'proof':<58}{'expected':>16}{'found':>16} {'unit':<7}{'off by':>10}    {'allowed':<8} verdict"
