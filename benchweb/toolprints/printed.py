"""What is written: one trial's figures in SI units, and numbers with all of their digits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

# netperf prints -1 where it has no number.
NONE = "-1"


@dataclass(frozen=True)
class PrintedInterval:
    """Figures of one interval, in seconds from the test's begin."""

    begin_seconds: float
    end_seconds: float
    metrics: Mapping[str, float]
    is_omitted: bool = False


@dataclass(frozen=True)
class Measurement:
    """One trial: `params` has a value for each parameter of its kind, `given` those that its plan names.

    `metrics` are under the catalog's names, or a tool's own where the catalog has none.
    """

    kind: str
    params: Mapping[str, Any]
    metrics: Mapping[str, float]
    given: Mapping[str, Any] = field(default_factory=dict)
    source: str = "source"
    sink: str = "sink"
    at: datetime | None = None
    repetition: int = 1
    # Why there are no metrics; empty where there are some.
    missing: str = ""
    intervals: tuple[PrintedInterval, ...] = field(default=(), repr=False)

    @property
    def seconds(self) -> float:
        """Return how long it was measured; 0 where its kind has no duration."""
        value = self.params.get("duration_seconds")
        return float(value) if isinstance(value, int | float) else 0.0

    @property
    def address(self) -> str:
        """Return the sink as one word."""
        return "_".join(self.sink.split()) or "sink"


def digits(value: float, *, exponent: int = 0, places: int = 2, divisor: int = 1) -> str:
    """Write `value × 10^exponent ÷ divisor` with all digits that it has, and at least so many decimals.

    Divisors are powers of two, so that nothing is lost.
    """
    number = Decimal(repr(float(value))).scaleb(exponent) / divisor
    written = f"{number:f}"
    decimals = len(written.partition(".")[2].rstrip("0"))
    return f"{number:.{max(places, decimals)}f}"


def count(value: float | None) -> str:
    """Write a whole number; -1 for none."""
    return NONE if value is None else digits(value, places=0)
